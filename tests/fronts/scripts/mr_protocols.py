"""One job with the protocols that its options name."""

from mrjob import protocol
from mrjob.job import MRJob


class MRProtocols(MRJob):
    def configure_args(self):
        super().configure_args()
        for name in ("input", "internal", "output"):
            self.add_passthru_arg(f"--{name}-protocol", default="StandardJSONProtocol")
        self.add_passthru_arg("--bytes", action="store_true")

    def input_protocol(self):
        return getattr(protocol, self.options.input_protocol)()

    def internal_protocol(self):
        return getattr(protocol, self.options.internal_protocol)()

    def output_protocol(self):
        return getattr(protocol, self.options.output_protocol)()

    def mapper(self, key, value):
        yield value, key

    def reducer(self, value, keys):
        for key in sorted(keys, key=repr):
            if self.options.bytes and key is None:
                key = b"none"
            yield key, value


if __name__ == "__main__":
    MRProtocols.run()
