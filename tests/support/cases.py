"""What must hold under hostile bytes, faults and load, case by case, and the tests that show it. Data only.

Each entry has its number, the requirement, the tests, and a note where the requirement differs from the usual one or where no
test of this suite can show it. Letters: A lengths, B type codes, C numbers, D text, E containers and keys,
F depth, G state, H memory that is read, I files that are read, J files that are written, K objects that are written, L memory,
M threads and processes, N trust, P jobs, R the task side of a job. package/test_cases.py checks that every test exists.
"""

from typing import NamedTuple


class Case(NamedTuple):
    """One requirement; `note` says what was decided otherwise, or why there is no test."""

    requirement: str
    tests: tuple
    note: str = ""


def case(requirement, *tests, note=""):
    """Return a Case."""
    return Case(requirement, tests, note)


CASES = {
    # -- lengths and bounds -------------------------------------------------------------------------------
    "A1": case(
        "a length of 2^31-1 with 3 bytes after it is TruncatedError, and costs what is there",
        "core/test_hostile.py::test_declared_lengths_cost_nothing",
        "core/test_limits.py::test_a_declared_length_in_memory_costs_less_than_64_kib",
        "core/test_limits.py::test_a_declared_length_in_a_stream_costs_less_than_2_mib",
        "core/test_memory.py::test_declared_lengths_cost_no_memory_in_a_fresh_process",
    ),
    "A2": case(
        "a negative length is FormatError for every code that has one",
        "core/test_hostile.py::test_negative_lengths_of_every_code",
        "core/test_vectors.py::test_refused",
    ),
    "A3": case(
        "a count of 2^31-1 with nothing after it is TruncatedError, and nothing is allocated for it",
        "core/test_limits.py::test_a_declared_length_in_memory_costs_less_than_64_kib",
        "core/test_limits.py::test_nested_declared_counts_do_not_all_reserve_memory",
        "core/test_hostile.py::test_nested_declared_lengths_cost_little",
        note="counts are not compared with what remains: an error is the first one met from left to right",
    ),
    "A4": case(
        "a negative count is FormatError",
        "core/test_hostile.py::test_negative_lengths_of_every_code",
        "core/test_vectors.py::test_skip_of_refused",
    ),
    "A5": case(
        "a record without an end is LimitError, after no more bytes than were allowed",
        "stream/test_failing_sources.py::test_a_record_without_an_end_is_a_limit",
        "core/test_decoder.py::test_max_bytes_refuses_a_declared_length_before_it_is_buffered",
        note="max_bytes of a record is the limit, and off by default; there is none on the number of items",
    ),
    "A6": case(
        "every prefix of a value is TruncatedError at its end; input may end between records only",
        "core/test_vectors.py::test_cut_at_every_byte",
        "stream/test_reader.py::test_every_kind_may_be_empty",
        "stream/test_reader.py::test_every_kind_reports_where_it_was_cut",
    ),
    "A7": case(
        "a length of what remains is a value, one more TruncatedError, one less leaves bytes, which loads refuses at their offset",
        "core/test_vectors.py::test_cut_at_every_byte",
        "core/test_vectors.py::test_decode_with_more_bytes_after",
        "core/test_vectors.py::test_more_than_one_value",
        "core/test_guard_page.py::test_nothing_is_touched_beyond_the_bytes",
        note="bytes after a single value are FormatError; there is no class of their own for them",
    ),
    "A8": case(
        "nothing wraps for lengths up to 2^31-1",
        "core/test_hostile.py::test_lengths_to_which_nothing_can_be_added",
        "core/test_vectors.py::test_refused",
    ),
    "A9": case(
        "a length or count of zero is a value",
        "core/test_vectors.py::test_decode",
        "core/test_reference.py::test_every_type_code_with_up_to_20_bytes_after_it",
    ),
    "A10": case(
        "no byte after the input is read, at any size",
        "core/test_guard_page.py::test_nothing_is_touched_beyond_the_bytes",
        "core/test_guard_page.py::test_a_byte_too_far_kills",
        "core/test_guard_page.py::test_advance_refuses_numbers_that_lead_nowhere",
    ),
    "A11": case(
        "numbers at the last byte before a page that cannot be touched are read as elsewhere",
        "core/test_guard_page.py::test_nothing_is_touched_beyond_the_bytes",
    ),
    "A12": case(
        "the same on 32 bits",
        note="needs an interpreter of 32 bits, which this suite is not run on; lengths are Py_ssize_t and compared, never added",
    ),
    "A13": case(
        "a message holds nothing but the input's own numbers",
        "core/test_hostile.py::test_messages_hold_nothing_of_what_lies_around",
        "core/test_memory.py::test_an_error_holds_nothing_of_the_input",
    ),
    "A14": case(
        "offsets beyond 2^31 and 2^32 are exact",
        "stream/test_large_values.py::test_offsets_beyond_32_bits_are_exact",
        "stream/test_large_values.py::test_offsets_of_a_scan_beyond_32_bits_are_exact",
    ),
    # -- type codes ---------------------------------------------------------------------------------------
    "B1": case(
        "every first byte with 0 to 20 bytes after it is what the description says",
        "core/test_reference.py::test_every_type_code_with_up_to_20_bytes_after_it",
        "core/test_reference.py::test_every_input_of_one_or_two_bytes",
        "core/test_reference.py::test_every_input_of_one_or_two_bytes_in_hive",
    ),
    "B2": case(
        "a MARKER outside a LIST is FormatError, never an end",
        "core/test_vectors.py::test_refused",
        "core/test_vectors.py::test_refused_after_other_values",
        "streaming/test_exit.py::test_bad_input",
        "cli/test_cli.py::test_marker_is_no_end_of_file",
    ),
    "B3": case(
        "a LIST ended by the end of input is TruncatedError",
        "core/test_vectors.py::test_cut_at_every_byte",
        "core/test_vectors.py::test_stream",
        "streaming/test_exit.py::test_bad_input",
    ),
    "B4": case(
        "a WRITABLE whose class name does not fit or is not UTF-8 is FormatError; the name is text and no more",
        "core/test_vectors.py::test_refused",
        "core/test_hostile.py::test_the_name_of_a_writable_is_text_and_nothing_is_imported",
    ),
    "B5": case(
        "a class name may be anything that is text",
        "core/test_hostile.py::test_the_name_of_a_writable_is_text_and_nothing_is_imported",
        "core/test_vectors.py::test_encode",
    ),
    "B6": case(
        "an application code without a meaning here is kept and written again byte for byte",
        "core/test_vectors.py::test_encode",
        "core/test_hooks.py::test_ext_hook_sees_application_codes_without_a_meaning",
        "package/test_api.py::test_value_types_are_copied_shown_and_compared",
        note="101, 102 and pickles have a meaning here; exact=True keeps their codes too",
    ),
    "B7": case(
        "what a hook or handler raises comes out, and ends no iteration in silence",
        "core/test_hooks.py::test_what_a_hook_raises_comes_out",
        "core/test_hostile.py::test_a_hook_cannot_end_an_iteration",
        "stream/test_legacy.py::test_what_a_handler_raises_ends_no_iteration_in_silence",
    ),
    "B8": case(
        "there are no handlers for codes that no value has",
        "stream/test_legacy.py::test_only_codes_of_values_have_handlers",
        "package/test_api.py::test_value_types_refuse_what_they_cannot_hold",
        note="the drop-in classes take handlers for the standard codes too, as the originals did",
    ),
    # -- numbers ------------------------------------------------------------------------------------------
    "C1": case(
        "an int is an INT exactly where 32 bits hold it, and a LONG where 64 do",
        "core/test_vectors.py::test_encode",
        "stream/test_legacy.py::test_ints_take_the_width_they_need",
        "core/test_reference.py::test_encode",
    ),
    "C2": case(
        "an int beyond 64 bits is pickled, or with pickles off EncodeValueError with nothing written",
        "core/test_vectors.py::test_unwritable",
        "core/test_pickle.py::test_an_int_is_written_as_by_pickle",
        "core/test_encoder.py::test_an_encoder_is_as_new_after_each_failure",
        note="EncodeValueError instead of OverflowError, and only with pickle='raw' or a fixed width",
    ),
    "C3": case(
        "a bool is a BOOL; ints by inheritance are ints by value; what has nothing but __index__ is refused",
        "core/test_encoder.py::test_unusual_objects_come_back_plain",
        "core/test_encoder.py::test_numpy_scalars_are_written_by_width",
        "core/test_unencodable.py::test_what_has_no_type_code_is_named_with_its_path",
    ),
    "C4": case(
        "every double and every float comes back to the bit, payloads of NaN too",
        "core/test_vectors.py::test_decode",
        "core/test_vectors.py::test_encode",
        "core/test_reference.py::test_encode",
    ),
    "C5": case(
        "a number too large for a FLOAT is EncodeValueError",
        "core/test_vectors.py::test_unwritable",
        "stream/test_writer.py::test_an_object_that_cannot_be_written_leaves_nothing",
    ),
    "C6": case(
        "any BOOL byte but 0 is True",
        "core/test_vectors.py::test_decode",
        "core/test_reference.py::test_every_input_of_one_or_two_bytes",
        note="there is no strict option",
    ),
    "C7": case(
        "the same on a processor of the other byte order",
        note="needs such a processor, or a whole system for one; byte order is in one header that never casts a pointer",
    ),
    "C8": case(
        "the same at every alignment",
        "core/test_guard_page.py::test_every_alignment_is_the_same",
        "core/test_vectors.py::test_decode_with_more_bytes_after",
    ),
    # -- text ---------------------------------------------------------------------------------------------
    "D1": case(
        "a STRING that is not UTF-8 is FormatError, or what unicode_errors= says",
        "core/test_vectors.py::test_refused",
        "core/test_foreign.py::test_bad_text_as_java_reads_it",
        "core/test_foreign.py::test_bad_text_where_java_differs",
        note="replace is Python's: three U+FFFD for a surrogate, where Java has one",
    ),
    "D2": case(
        "a lone surrogate is EncodeValueError with nothing written",
        "core/test_encoder.py::test_lone_surrogates_follow_unicode_errors",
        "stream/test_writer.py::test_an_object_that_cannot_be_written_leaves_nothing",
        note="EncodeValueError instead of UnicodeEncodeError",
    ),
    "D3": case("NUL in text and bytes is kept", "core/test_vectors.py::test_decode", "core/test_vectors.py::test_encode"),
    "D4": case(
        "a character may be split between two chunks anywhere",
        "core/test_vectors.py::test_decode_in_two_chunks",
        "core/test_decoder.py::test_fed_at_every_split",
    ),
    "D5": case(
        "lengths at the seams of buffers are exact",
        "stream/test_large_values.py::test_long_values",
        "stream/test_writer.py::test_records_at_the_seams_of_the_buffer",
    ),
    "D6": case(
        "what is longer than 2^31-1 bytes is EncodeValueError before any byte is written",
        "core/test_changing_objects.py::test_what_is_too_long_is_refused_before_it_is_looked_at",
        "core/test_hostile.py::test_too_long_to_write",
        "core/test_hostile.py::test_text_too_long_to_write_once_encoded",
        note="EncodeValueError instead of OverflowError",
    ),
    "D7": case(
        "an error handler may raise, lie or decode",
        "core/test_hooks.py::test_an_error_handler_of_the_callers_own",
        "core/test_encoder.py::test_an_error_handler_that_errs",
        "core/test_changing_objects.py::test_an_error_handler_that_clears_what_is_written_harms_nothing",
    ),
    # -- containers and keys ------------------------------------------------------------------------------
    "E1": case(
        "a key that cannot be hashed is FormatError at its offset, or one of the pairs of map_pairs=True",
        "core/test_map_keys.py::test_unhashable_keys_are_refused_at_their_offset",
        "core/test_map_keys.py::test_map_pairs_gives_pairs_all_the_way_down",
        "stream/test_legacy.py::test_a_map_key_must_be_hashable",
    ),
    "E2": case(
        "of equal keys the last wins, and what it replaces is released",
        "core/test_map_keys.py::test_of_equal_keys_the_last_value_wins_in_the_order_of_the_first",
        "core/test_memory.py::test_operations_leave_no_memory_allocated",
        note="there is no strict option",
    ),
    "E3": case(
        "1, 1.0 and True are one key of a dict, and pairs of map_pairs=True",
        "core/test_map_keys.py::test_of_equal_keys_the_last_value_wins_in_the_order_of_the_first",
        "core/test_vectors.py::test_decode",
    ),
    "E4": case(
        "keys that are not equal to themselves are all kept",
        "core/test_map_keys.py::test_values_that_are_equal_keep_their_own_keys",
        "core/test_map_keys.py::test_one_key_may_be_repeated_without_limit",
        note="that the time is linear: bench/bounds.py",
    ),
    "E5": case(
        "keys made to have one hash value are a LimitError before they cost much",
        "core/test_hostile.py::test_vector_keys_with_one_hash",
        "core/test_hostile.py::test_pickled_keys_with_one_hash",
        "core/test_map_keys.py::test_keys_of_one_hash_are_limited",
        "core/test_pickle.py::test_equal_hashes_are_bounded",
        note="512 keys of one hash value in a MAP; how long the rest takes: bench/bounds.py",
    ),
    "E6": case(
        "keys of equal low bits are not limited",
        "core/test_map_keys.py::test_keys_that_do_not_collide_are_not_limited",
        "core/test_hostile.py::test_one_mebibyte_in_time",
        note="how long they take: bench/bounds.py",
    ),
    "E7": case(
        "a key of a hook may run code when it is hashed or compared",
        "core/test_map_keys.py::test_a_key_that_raises_comes_out",
        "core/test_map_keys.py::test_a_key_that_decodes_while_it_is_compared",
    ),
    "E8": case(
        "list, tuple and dict come back as themselves, empty ones too",
        "core/test_vectors.py::test_decode",
        "core/test_vectors.py::test_encode",
    ),
    "E9": case(
        "a million keys and ten million items are no more than that",
        "core/test_limits.py::test_a_million_keys_and_ten_million_items_are_no_more_than_that",
        note="that the time is linear: bench/bounds.py",
    ),
    "E10": case(
        "a mebibyte of anything costs less than 40 times its size, and 1 MiB",
        "core/test_limits.py::test_a_mebibyte_costs_no_more_than_its_lists",
        "core/test_memory.py::test_memory_is_bounded_by_the_input",
        "core/test_pickle.py::test_memory_follows_the_data",
        note="43 times from a stream, where the bytes are held too, and those of a key twice",
    ),
    # -- depth --------------------------------------------------------------------------------------------
    "F1": case(
        "100,000 levels of anything are LimitError at the first one too deep",
        "core/test_hostile.py::test_100_000_levels",
        "core/test_hostile.py::test_100_000_levels_of_keys",
        "core/test_foreign.py::test_bad",
    ),
    "F2": case(
        "max_depth is exact, from 0 on",
        "core/test_hostile.py::test_depth_is_exact",
        "core/test_vectors.py::test_decode",
        "core/test_encoder.py::test_wrong_options_are_refused",
        note="10,000 is the most that can be asked for",
    ),
    "F3": case(
        "the default depth needs no more than a stack of 128 KiB",
        "core/test_depth.py::test_the_deepest_values_on_a_stack_of_128_kib",
        "core/test_depth.py::test_a_deep_key_on_a_stack_of_128_kib",
        "core/test_hostile.py::test_a_thread_with_a_small_stack",
    ),
    "F4": case(
        "depth starts at zero after every failure",
        "core/test_hostile.py::test_depth_starts_again_after_an_error",
        "core/test_decoder.py::test_a_decoder_is_as_new_after_each_failure",
        "core/test_encoder.py::test_an_encoder_is_as_new_after_each_failure",
    ),
    "F5": case(
        "what holds itself is EncodeValueError",
        "core/test_depth.py::test_what_holds_itself_is_refused",
        "core/test_hostile.py::test_a_value_that_holds_itself",
        "core/test_encoder.py::test_a_default_that_comes_to_no_end_is_stopped",
    ),
    "F6": case(
        "depth does not hang on the recursion limit",
        "core/test_depth.py::test_a_low_recursion_limit_changes_nothing",
        "core/test_hostile.py::test_depth_does_not_hang_on_the_recursion_limit",
        "core/test_map_keys.py::test_equal_deep_keys_at_a_low_recursion_limit",
    ),
    "F7": case(
        "deep and large values are released on a small stack",
        "core/test_depth.py::test_the_deepest_values_on_a_stack_of_128_kib",
        "core/test_depth.py::test_a_million_items_are_released_on_a_stack_of_128_kib",
    ),
    # -- state --------------------------------------------------------------------------------------------
    "G1": case(
        "a Reader that failed says the same again, whatever is asked of it",
        "stream/test_failing_sources.py::test_after_a_fault_every_operation_says_the_same",
        "stream/test_failing_sources.py::test_what_a_source_raises_goes_through_and_is_final",
        "core/test_decoder.py::test_a_failure_is_final_and_comes_after_the_values_before_it",
    ),
    "G2": case(
        "every operation after every operation that failed",
        "stream/test_failing_sources.py::test_after_a_fault_every_operation_says_the_same",
        "stream/test_reader.py::test_close_forgets_a_failure",
    ),
    "G3": case(
        "a hook that uses the object it is called from is refused",
        "core/test_hooks.py::test_a_hook_that_uses_the_fed_decoder_is_refused",
        "core/test_hooks.py::test_a_hook_that_calls_init_of_its_decoder_again_harms_nothing",
        "stream/test_reader.py::test_close_from_a_hook_is_refused_and_changes_nothing",
        "stream/test_writer.py::test_a_hook_that_writes_is_refused_and_the_record_is_whole",
        note="the methods of Decoder and Encoder that hold no state may be called",
    ),
    "G4": case(
        "a hook may use other objects, whose depth is their own",
        "core/test_hooks.py::test_a_hook_may_decode_and_encode",
        "core/test_hostile.py::test_a_hook_may_use_other_decoders",
        "core/test_encoder.py::test_default_may_use_the_encoder_and_others",
    ),
    "G5": case(
        "no __init__, two, one that failed, and a subclass that forgets it",
        "stream/test_reader.py::test_a_reader_without_init_is_closed",
        "stream/test_reader.py::test_a_second_init_is_refused_and_changes_nothing",
        "stream/test_writer.py::test_an_init_that_failed_can_be_repeated",
        "package/test_api.py::test_subclasses_may_add_and_not_break",
        "core/test_decoder.py::test_a_decoder_that_was_fed_keeps_its_options",
        "stream/test_groups.py::test_groups_belong_to_a_reader",
    ),
    "G6": case(
        "nothing of one record is reached from the next",
        "core/test_pickle.py::test_a_memo_ends_with_its_pickle",
        note="TypedBytes has no references; pickles have, each its own",
    ),
    "G7": case(
        "a hook may raise at any call, and nothing is left over",
        "core/test_hooks.py::test_what_a_hook_raises_comes_out",
        "core/test_memory.py::test_operations_leave_no_memory_allocated",
    ),
    "G8": case("a hook sees no half-made tuple", "core/test_hooks.py::test_a_hook_sees_no_half_made_tuple"),
    "G9": case(
        "no exception looks like the end of an iterator",
        "core/test_hooks.py::test_what_a_hook_raises_comes_out",
        "stream/test_failing_sources.py::test_stop_iteration_of_a_source_is_not_the_end",
        "stream/test_failing_sources.py::test_stop_iteration_of_a_source_is_not_the_end_of_a_group",
        "core/test_hooks.py::test_an_error_handler_of_the_callers_own",
    ),
    "G10": case("what has a state is not copied", "package/test_api.py::test_what_has_a_state_is_not_copied"),
    # -- memory that is read ------------------------------------------------------------------------------
    "H1": case(
        "every kind of buffer is decoded and scanned",
        "core/test_decoder.py::test_every_buffer_is_decoded",
        "core/test_decoder.py::test_every_buffer_is_scanned",
        "stream/test_reader.py::test_every_kind_gives_all_values",
    ),
    "H2": case(
        "steps, shapes and formats are bytes in C order",
        "core/test_decoder.py::test_shapes_and_formats_are_bytes_in_c_order",
        "core/test_decoder.py::test_every_buffer_is_decoded",
        "core/test_decoder.py::test_what_is_not_a_buffer_is_refused",
    ),
    "H3": case(
        "a hook cannot resize what is decoded, and it is free afterwards",
        "core/test_hooks.py::test_a_hook_cannot_change_what_is_decoded",
        "core/test_hooks.py::test_a_buffer_is_free_after_a_failure",
    ),
    "H4": case(
        "bytes that another thread changes cost an error at most",
        "core/test_concurrency.py::test_bytes_that_another_thread_changes_cost_an_error_at_most",
    ),
    "H5": case(
        "a file cut short meanwhile is TruncatedError",
        "stream/test_failing_sources.py::test_a_file_cut_short_meanwhile_is_truncated",
        note="files are read, never mapped; an mmap that the caller made ends the process, as it does anywhere",
    ),
    "H6": case(
        "values hold nothing of the memory they came from",
        "core/test_concurrency.py::test_values_hold_nothing_of_the_memory_they_came_from",
        "stream/test_reader.py::test_the_reader_keeps_its_source_alive",
    ),
    # -- files that are read ------------------------------------------------------------------------------
    "I1": case(
        "a wrong answer of read or readinto is named and final",
        "stream/test_failing_sources.py::test_a_wrong_answer_is_named_and_final",
        "stream/test_failing_sources.py::test_what_is_bytes_in_all_but_type_is_taken",
    ),
    "I2": case(
        "a source may give any number of bytes at a time",
        "stream/test_reader.py::test_every_kind_gives_all_values",
        "stream/test_reader.py::test_every_kind_reports_where_it_was_cut",
        "core/test_reference.py::test_streams_in_chunks",
    ),
    "I3": case(
        "no read asks for nothing or for everything",
        "stream/test_reader.py::test_no_read_asks_for_nothing_or_for_everything",
        "stream/test_reader.py::test_the_end_is_asked_for_once",
    ),
    "I4": case(
        "what a source raises goes through and is final",
        "stream/test_failing_sources.py::test_what_a_source_raises_goes_through_and_is_final",
    ),
    "I5": case(
        "a signal does not disturb a read, unless its handler raises",
        "stream/test_reader_signals.py::test_a_signal_does_not_disturb_a_read",
        "stream/test_reader_signals.py::test_a_signal_handler_that_raises_ends_a_read_for_good",
    ),
    "I6": case(
        "no bytes yet is not the end",
        "stream/test_failing_sources.py::test_no_bytes_yet_is_not_the_end",
        "stream/test_failing_sources.py::test_a_timeout_of_a_socket_is_not_the_end",
        "streaming/test_descriptors.py::test_source_without_blocking_is_not_at_its_end",
    ),
    "I7": case(
        "a file or descriptor closed meanwhile raises",
        "stream/test_failing_sources.py::test_a_file_closed_meanwhile_raises",
        "stream/test_failing_sources.py::test_a_descriptor_closed_meanwhile_raises",
        "streaming/test_exit.py::test_descriptors_that_user_code_opens_again",
        note="that the number of a closed descriptor was given to another file is seen on the task side only",
    ),
    "I8": case("a Reader keeps its source alive", "stream/test_reader.py::test_the_reader_keeps_its_source_alive"),
    "I9": case(
        "what was consumed, what detach gives and what is left are all there was",
        "stream/test_reader.py::test_what_was_consumed_and_what_detach_gives_and_what_is_left_are_all",
        "stream/test_reader.py::test_load_leaves_the_file_right_after_its_value",
        "stream/test_reader.py::test_without_read_ahead_a_reader_takes_only_its_values",
        "stream/test_legacy.py::test_the_position_is_exact",
    ),
    "I10": case(
        "what cannot be read is refused at once",
        "stream/test_failing_sources.py::test_what_cannot_be_read_is_refused_at_once",
        "stream/test_failing_sources.py::test_text_files_are_refused_at_once",
        "stream/test_failing_sources.py::test_a_property_that_raises_goes_through",
    ),
    "I11": case(
        "a pipe closed inside a value is TruncatedError with offset and record",
        "stream/test_failing_sources.py::test_a_pipe_closed_inside_a_value",
    ),
    "I12": case(
        "files of more than 4 GiB, packed files, files of sockets and temporary files",
        "stream/test_reader.py::test_every_kind_gives_all_values",
        "stream/test_large_values.py::test_offsets_beyond_32_bits_are_exact",
    ),
    # -- files that are written ---------------------------------------------------------------------------
    "J1": case(
        "a sink that takes a part gets the rest, and a wrong answer is named",
        "stream/test_writer.py::test_every_kind_gets_all_values",
        "stream/test_failing_sinks.py::test_a_wrong_answer_is_named_and_loses_nothing",
        "stream/test_failing_sinks.py::test_a_full_pipe_that_does_not_wait_doubles_nothing",
    ),
    "J2": case(
        "a full device and a pipe without a reader are reported, at the latest by close",
        "stream/test_failing_sinks.py::test_a_full_device_is_reported",
        "stream/test_failing_sinks.py::test_a_reader_that_closes_its_pipe_in_the_middle_is_reported",
        "stream/test_failing_sinks.py::test_what_a_sink_raises_goes_through_and_nothing_is_lost_or_doubled",
        "streaming/test_exit.py::test_full_device",
        "streaming/test_exit.py::test_output_that_is_not_read",
        "cli/test_cli.py::test_full_disk",
    ),
    "J3": case(
        "a record that cannot be encoded leaves nothing",
        "stream/test_writer.py::test_an_object_that_cannot_be_written_leaves_nothing",
        "stream/test_writer.py::test_only_whole_records_are_handed_over",
    ),
    "J4": case(
        "closing twice, using what is closed, and forgetting to close",
        "stream/test_writer.py::test_a_closed_writer_says_so",
        "stream/test_writer.py::test_a_with_body_that_raises_keeps_whole_records_and_its_error",
        "stream/test_writer.py::test_a_forgotten_writer_warns_and_still_writes",
        "stream/test_writer.py::test_a_writer_alive_at_the_end_of_the_interpreter_still_writes",
    ),
    "J5": case(
        "close that raises has closed",
        "stream/test_failing_sinks.py::test_a_full_device_by_path_is_reported_and_closed",
        "stream/test_failing_sinks.py::test_a_sink_that_breaks_for_good_is_reported_by_close_once",
        "stream/test_writer.py::test_paths_are_closed_whatever_happens",
    ),
    "J6": case(
        "a fork writes nothing twice",
        "stream/test_writer.py::test_a_fork_does_not_write_twice",
        "streaming/test_exit.py::test_what_a_task_forks_reads_and_writes_no_records",
    ),
    "J7": case(
        "a record goes out in one write, which a pipe keeps whole up to its own limit",
        "stream/test_writer.py::test_a_record_goes_out_in_one_write",
        "streaming/test_report.py::test_a_line_is_one_write",
        note="with buffer_size=1; otherwise several records go out together",
    ),
    # -- objects that are written -------------------------------------------------------------------------
    "K1": case(
        "a list that changes while it is written is written whole",
        "core/test_changing_objects.py::test_a_list_that_changes_is_written_whole",
        "core/test_encoder.py::test_a_list_that_another_thread_changes_is_written_whole",
        "core/test_changing_objects.py::test_a_trace_function_that_clears_what_is_written_harms_nothing",
        "stream/test_legacy.py::test_the_count_of_a_container_is_that_of_its_items",
    ),
    "K2": case(
        "a dict that changes while it is written is written whole or refused",
        "core/test_changing_objects.py::test_a_dict_that_changes_is_written_whole_or_refused",
        "core/test_changing_objects.py::test_a_dict_subclass_that_changes_is_written_as_it_was",
    ),
    "K3": case(
        "subclasses whose methods lie are written by what they hold, a dict by the items it says",
        "core/test_encoder.py::test_unusual_objects_come_back_plain",
        "core/test_unencodable.py::test_items_that_lie_are_refused",
        "core/test_unencodable.py::test_items_that_are_good_pairs_are_written",
    ),
    "K4": case(
        "__len__ is not asked",
        "core/test_encoder.py::test_unusual_objects_come_back_plain",
    ),
    "K5": case(
        "a default that comes to no end is stopped",
        "core/test_encoder.py::test_a_default_that_comes_to_no_end_is_stopped",
        "core/test_encoder.py::test_default_that_calls_itself_for_ever_is_a_recursion_error",
        note="EncodeValueError instead of LimitError, which is for bytes",
    ),
    "K6": case(
        "memory that is resized or released while it is written",
        "core/test_changing_objects.py::test_memory_that_changes_before_and_after_it_is_written",
        "core/test_unencodable.py::test_a_released_view_is_refused",
        "core/test_encoder.py::test_encode_into_what_is_encoded",
    ),
    "K7": case(
        "a tuple or dict of more than 2^31-1 items is EncodeValueError",
        "core/test_changing_objects.py::test_what_is_too_long_is_refused_before_it_is_looked_at",
        note="EncodeValueError instead of OverflowError",
    ),
    "K8": case(
        "an Encoder is as new after each failure",
        "core/test_encoder.py::test_an_encoder_is_as_new_after_each_failure",
        "core/test_encoder.py::test_encode_into_that_fails_leaves_the_buffer",
    ),
    "K9": case(
        "what has no type code is EncodeTypeError with type and path",
        "core/test_unencodable.py::test_what_has_no_type_code_is_named_with_its_path",
        "core/test_unencodable.py::test_a_value_type_forged_is_refused",
        "core/test_pickle.py::test_another_type_is_not_pickled",
        note="the listed value types, set and Decimal among them, are pickled unless pickle='raw'",
    ),
    # -- memory -------------------------------------------------------------------------------------------
    "L1": case(
        "memory refused at any allocation, once or for good, is a MemoryError, and the next call is as ever",
        "core/test_allocation.py::test_every_refused_allocation_is_a_memory_error",
        "stream/test_failing_sinks.py::test_a_buffer_size_beyond_memory_is_a_memory_error",
        "core/test_unencodable.py::test_memory_that_a_pickle_lacks_is_no_fault_of_the_object_or_of_the_bytes",
        "cli/test_cli.py::test_out_of_memory",
    ),
    "L2": case(
        "no operation leaks memory, whether it fails or not",
        "core/test_memory.py::test_operations_leave_no_memory_allocated",
        "core/test_memory.py::test_numbers_are_freed_whatever_their_memory_held",
        note="references are counted by an interpreter built for that",
    ),
    "L3": case(
        "a buffer that cannot grow is owned once, holds what it held, and can be used on",
        "core/test_allocation.py::test_every_refused_allocation_is_a_memory_error",
        "core/test_allocation.py::test_a_feed_without_memory_has_taken_nothing",
        "core/test_allocation.py::test_a_copy_without_memory_loses_no_record",
        "core/test_allocation.py::test_a_writer_without_memory_loses_and_doubles_no_record",
        "stream/test_writer.py::test_bytes_beyond_all_memory_are_a_memory_error_and_leave_nothing",
    ),
    "L4": case(
        "a long stream costs no memory, and a long record none afterwards",
        "stream/test_large_values.py::test_a_long_stream_costs_no_memory",
        "stream/test_large_values.py::test_the_buffer_shrinks_after_a_long_value",
        "stream/test_writer.py::test_a_long_stream_costs_no_memory",
        "stream/test_writer.py::test_huge_records_cost_no_memory_afterwards",
        "core/test_decoder.py::test_memory_of_fed_input_comes_back",
        note="gigabytes of it: tests/soak/soak.py",
    ),
    "L5": case("cycles with hooks are collected", "core/test_hooks.py::test_cycles_with_hooks_are_collected"),
    "L6": case(
        "an error holds nothing of the input",
        "core/test_memory.py::test_an_error_holds_nothing_of_the_input",
        "stream/test_reader.py::test_a_failed_reader_in_a_with_block_leaves_nothing_to_collect",
    ),
    "L7": case(
        "the compiler of the core is pinned",
        "package/test_cases.py::test_the_compiler_of_the_core_is_pinned",
        note="the suite is run on every supported Python",
    ),
    # -- threads, processes, signals ----------------------------------------------------------------------
    "M1": case(
        "threads that share an object get the right result or RuntimeError",
        "core/test_concurrency.py::test_threads_may_share_the_decode_methods",
        "core/test_concurrency.py::test_a_fed_decoder_refuses_a_second_thread",
        "core/test_encoder.py::test_threads_may_share_an_encoder",
        "stream/test_reader.py::test_a_reader_refuses_a_second_thread",
        "stream/test_writer.py::test_a_writer_refuses_a_second_thread",
    ),
    "M2": case(
        "threads with objects of their own do not meet",
        "stream/test_reader.py::test_threads_with_readers_of_their_own_do_not_meet",
        "streaming/test_report.py::test_threads_count_together",
    ),
    "M3": case(
        "a second interpreter in the process is refused",
        "core/test_concurrency.py::test_another_interpreter_in_the_process_is_refused",
    ),
    "M4": case(
        "forks, and processes of multiprocessing",
        "core/test_concurrency.py::test_a_fork_in_the_middle_of_a_decode",
        "core/test_concurrency.py::test_processes_of_multiprocessing",
        "stream/test_writer.py::test_a_writer_made_in_the_child_writes",
    ),
    "M5": case(
        "signals are handled during long work, and all is as before",
        "core/test_signals.py::test_signals_are_checked_while_decoding",
        "core/test_signals.py::test_signals_are_checked_while_encoding",
        "core/test_signals.py::test_signals_are_checked_while_scanning",
        "core/test_signals.py::test_signals_are_checked_between_many_values",
        "core/test_signals.py::test_after_an_interrupt_all_is_as_before",
        "core/test_signals.py::test_an_interrupt_of_a_reader_is_final",
        note="counted, not timed; within 100 ms: bench/bounds.py",
    ),
    "M6": case(
        "a signal handler may use the codec",
        "core/test_signals.py::test_a_signal_handler_may_use_the_codec",
        "stream/test_reader_signals.py::test_a_signal_handler_may_use_another_reader",
    ),
    "M7": case(
        "the interpreter may end, and the package be loaded again, with everything in use",
        "core/test_concurrency.py::test_the_interpreter_ends_while_readers_and_threads_live",
        "core/test_concurrency.py::test_the_package_may_be_loaded_again",
        "stream/test_writer.py::test_a_writer_alive_at_the_end_of_the_interpreter_still_writes",
    ),
    # -- trust --------------------------------------------------------------------------------------------
    "N1": case(
        "a pickle builds only the listed value types, unless the call says otherwise; nothing else can say so",
        "core/test_hostile.py::test_a_pickle_that_is_kept_is_shown_and_not_run",
        "core/test_hostile.py::test_pickles_cost_a_format_error_or_a_value",
        "core/test_pickle.py::test_a_name_outside_the_list_is_refused_and_reported",
        "cli/test_cli.py::test_validate_runs_no_pickle",
        "package/test_api.py::test_a_source_opens_prints_and_asks_for_nothing",
        note="pickle='safe' is the default, 'raw' gives it as it is",
    ),
    "N2": case(
        "the name of a WRITABLE imports nothing",
        "core/test_hostile.py::test_the_name_of_a_writable_is_text_and_nothing_is_imported",
    ),
    "N3": case(
        "what is opaque is shown shortly, and a pickle without running it",
        "core/test_hostile.py::test_a_pickle_that_is_kept_is_shown_and_not_run",
        "package/test_api.py::test_opaque_values_equal_only_their_own_kind",
    ),
    "N4": case(
        "a handler is of one Input or Output alone",
        "stream/test_legacy.py::test_a_handler_is_of_one_input_or_output_alone",
    ),
    "N5": case(
        "the command evaluates nothing and prints no control characters",
        "cli/test_cli.py::test_control_characters_of_data_stay_out_of_messages",
        "cli/test_cli.py::test_control_characters_of_names_stay_out_of_messages",
        "cli/test_cli.py::test_control_characters_of_data_stay_out_of_json",
        "cli/test_json_form.py::test_any_json_is_taken_or_refused",
    ),
    # -- jobs ---------------------------------------------------------------------------------------------
    "P1": case(
        "what is printed is no record",
        "streaming/test_descriptors.py::test_noise_goes_to_standard_error",
        "hadoop/test_jobs.py::test_what_a_mapper_prints_stays_out_of_the_output",
        "hadoop/test_chaos.py::test_noise_of_every_kind_changes_no_record",
    ),
    "P2": case(
        "what C libraries and children print is no record",
        "streaming/test_descriptors.py::test_noise_goes_to_standard_error",
        "hadoop/test_chaos.py::test_noise_of_every_kind_changes_no_record",
    ),
    "P3": case(
        "a stray MARKER ends nothing",
        "hadoop/test_chaos.py::test_a_stray_marker_before_much_output_ends_nothing",
        "hadoop/test_chaos.py::test_a_reducer_that_leaves_its_values_and_a_noisy_combiner",
    ),
    "P4": case(
        "a death inside the last record fails the job",
        "hadoop/test_chaos.py::test_a_death_inside_a_record_fails_the_job",
    ),
    "P5": case(
        "output that no process reads is a failure",
        "streaming/test_exit.py::test_output_that_is_not_read",
        "streaming/test_exit.py::test_broken_pipe_is_an_error_whatever_the_script_did_to_the_signal",
    ),
    "P6": case(
        "input that is not read is a failure",
        "hadoop/test_chaos.py::test_input_that_is_not_read_fails_the_job",
        "streaming/test_exit.py::test_exit_inside_user_code_is_a_failure",
    ),
    "P7": case(
        "a reducer without input that has output gets a report that it is lost",
        "streaming/test_streaming.py::test_output_lost_by_a_reducer_without_input_is_reported",
        "hadoop/test_chaos.py::test_output_of_a_reducer_without_input_is_dropped_and_that_is_reported",
        note="Hadoop drops it and succeeds; a warning is all that a task can do",
    ),
    "P8": case(
        "a grandchild does not hold the output",
        "streaming/test_exit.py::test_grandchild_does_not_hold_the_output",
        "streaming/test_descriptors.py::test_children_inherit_no_records",
        "hadoop/test_chaos.py::test_noise_of_every_kind_changes_no_record",
    ),
    "P9": case(
        "more counters than Hadoop takes are refused by the task",
        "streaming/test_report.py::test_too_many_names",
        "hadoop/test_chaos.py::test_a_death_between_two_records_fails_the_job",
    ),
    "P10": case(
        "names of counters are made fit for Hadoop, and amounts are integers",
        "streaming/test_report.py::test_names_that_hadoop_can_read",
        "streaming/test_report.py::test_other_amounts_are_refused",
        "hadoop/test_jobs.py::test_counters_and_status_reach_hadoop",
    ),
    "P11": case(
        "os._exit(0) before the end is a failure, and so is becoming another program",
        "streaming/test_exit.py::test_no_way_out_looks_like_success",
        "hadoop/test_chaos.py::test_a_death_between_two_records_fails_the_job",
        note="what leaves through C's own exit() cannot be seen from Python",
    ),
    "P12": case(
        "catching what ends the task changes no exit code",
        "streaming/test_exit.py::test_the_code_of_a_task_is_that_of_the_process",
        "streaming/test_exit.py::test_signals",
        "streaming/test_exit.py::test_bad_input_cannot_be_talked_away",
        "hadoop/test_chaos.py::test_a_script_that_catches_all_fails_the_job",
    ),
    "P13": case(
        "SIGTERM ends the task at once, with code 143",
        "streaming/test_exit.py::test_signals",
        "streaming/test_exit.py::test_signal_while_waiting_for_input",
        "hadoop/test_jobs.py::test_job_fails_with_its_mapper",
    ),
    "P14": case(
        "a record that takes longer than Hadoop waits",
        "streaming/test_report.py::test_status_is_shown_at_once",
        "streaming/test_side_files.py::test_a_ping_sends_a_heartbeat_and_the_last_status_is_repeated",
        note="ping() and status() keep a slow task alive; local jobs know no timeout",
    ),
    "P15": case(
        "keys that are not equal to themselves are groups like others",
        "streaming/test_streaming.py::test_keys_that_are_not_equal_to_themselves",
        "stream/test_groups.py::test_groups_are_runs_of_equal_encoded_keys",
    ),
    "P16": case(
        "True, 1 and 1.0 are three groups",
        "streaming/test_streaming.py::test_groups_are_by_encoded_key",
        "hadoop/test_jobs.py::test_every_type_as_a_key_is_sorted_partitioned_and_grouped",
    ),
    "P17": case(
        "values that are not read are skipped, and cannot be kept",
        "streaming/test_streaming.py::test_values_not_read_are_skipped",
        "streaming/test_streaming.py::test_values_do_not_outlive_their_group",
        "hadoop/test_chaos.py::test_a_reducer_that_leaves_its_values_and_a_noisy_combiner",
    ),
    "P18": case("a key without a value is bad input", "streaming/test_exit.py::test_bad_input"),
    # -- the task side ------------------------------------------------------------------------------------
    "R1": case(
        "standard input and output belong to the task alone",
        "streaming/test_descriptors.py::test_a_task_has_standard_input_and_output_for_itself",
        "streaming/test_descriptors.py::test_noise_goes_to_standard_error",
        "streaming/test_descriptors.py::test_no_other_process_reads_the_input",
        "streaming/test_descriptors.py::test_closed_from_the_start",
    ),
    "R2": case(
        "only whole records leave, and closing is part of the work",
        "streaming/test_formats.py::test_output_through_short_writes",
        "streaming/test_exit.py::test_full_device",
        "streaming/test_streaming.py::test_what_is_not_a_pair_is_not_a_record",
    ),
    "R3": case(
        "0 for all of the work done, and for anything else its own code",
        "streaming/test_exit.py::test_exception_in_user_code",
        "streaming/test_exit.py::test_usage",
        "streaming/test_exit.py::test_internal_error",
        "streaming/test_exit.py::test_nothing_is_reported_when_all_is_well",
        "streaming/test_exit.py::test_no_way_out_looks_like_success",
        "hadoop/test_chaos.py::test_a_job_fails_or_is_right",
        "cli/test_cli.py::test_reader_that_goes_away",
    ),
    "R4": case(
        "stopping early is asked for, and drains the input",
        "streaming/test_streaming.py::test_stop_early_drains_the_input",
        "hadoop/test_jobs.py::test_job_succeeds_with_a_mapper_that_stops_early",
    ),
    "R5": case(
        "a failure reports attempt, file, record, offset, key and traceback, one line a write",
        "streaming/test_exit.py::test_exception_in_user_code",
        "streaming/test_exit.py::test_long_key_in_a_report_is_cut",
        "streaming/test_report.py::test_a_line_is_cut_to_one_write",
    ),
    "R6": case(
        "a task that reads on, or says ping(), reports once a minute, and one that hangs is not",
        "streaming/test_side_files.py::test_a_heartbeat_is_sent_when_records_were_read",
        "streaming/test_side_files.py::test_a_ping_sends_a_heartbeat_and_the_last_status_is_repeated",
        "streaming/test_side_files.py::test_a_task_that_reads_and_writes_nothing_sends_heartbeats",
    ),
    "R7": case(
        "counters are added up and sent every ten seconds and at the end",
        "streaming/test_report.py::test_amounts_are_sent_every_ten_seconds",
        "streaming/test_streaming.py::test_counters_and_status",
    ),
    "R8": case("a reducer groups by encoded keys", "streaming/test_streaming.py::test_groups_are_by_encoded_key"),
    "R9": case(
        "input that ends after a key or inside a value, or holds a MARKER, is bad",
        "streaming/test_exit.py::test_bad_input",
        "streaming/test_exit.py::test_bad_raw_bytes",
    ),
    "R10": case(
        "bad records whose end is known are left out on request, up to a limit, counted and kept in a side file",
        "streaming/test_bad_records.py::test_records_that_user_code_fails_for",
        "streaming/test_bad_records.py::test_records_that_cannot_be_decoded",
        "streaming/test_bad_records.py::test_too_many",
        "streaming/test_bad_records.py::test_input_without_structure_is_never_left_out",
        note="Hadoop's own skip mode is not used: on YARN there is none",
    ),
    "R11": case(
        "SIGTERM and SIGINT: one line, nothing flushed; a closed pipe is an error",
        "streaming/test_exit.py::test_signals",
        "streaming/test_exit.py::test_broken_pipe_is_an_error_whatever_the_script_did_to_the_signal",
    ),
    "R12": case(
        "files beside the output are there when the task has succeeded, whole, and else not",
        "streaming/test_side_files.py::test_a_side_file_lands_where_hadoop_says",
        "streaming/test_side_files.py::test_a_task_that_fails_leaves_no_file_of_that_name",
        "streaming/test_side_files.py::test_a_file_that_cannot_be_finished_fails_the_task",
        "hadoop/test_examples.py::test_side_files_and_bad_records",
        note="in HDFS: tests/cluster/run.py",
    ),
    "R13": case(
        "children inherit no records",
        "streaming/test_descriptors.py::test_children_inherit_no_records",
        "streaming/test_exit.py::test_what_a_task_forks_leaves_as_it_likes",
        note="children are not waited for, nor killed: that is the job's own",
    ),
    "R14": case(
        "an AttributeError of user code is its own",
        "streaming/test_exit.py::test_failure_at_any_position",
        "streaming/test_streaming.py::test_configure_and_close",
    ),
    "R15": case(
        "a reducer without input that has output is warned",
        "streaming/test_streaming.py::test_output_lost_by_a_reducer_without_input_is_reported",
    ),
    "R16": case(
        "a task's memory does not grow with its input",
        "streaming/test_streaming.py::test_group_larger_than_any_buffer",
        "stream/test_groups.py::test_skipping_long_values_of_a_group_costs_no_memory",
        note="the heartbeat reports the memory to Hadoop",
    ),
    "R17": case(
        "the misbehaving tasks as real jobs: each fails or is right",
        "hadoop/test_chaos.py::test_a_job_fails_or_is_right",
        "hadoop/test_chaos.py::test_a_death_between_two_records_fails_the_job",
        "hadoop/test_chaos.py::test_a_death_after_the_mapper_fails_the_job",
        "streaming/test_exit.py::test_no_way_out_looks_like_success",
    ),
}
