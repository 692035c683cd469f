"""The name nodes of an HDFS cluster, in the order in which a client should try them.

Here: what core-site.xml and hdfs-site.xml say of them, and whether their machines accept connections. Not here:
clients. Invariant: asked only when a client has had no answer.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from urllib.parse import urlsplit
from xml.etree import ElementTree

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["configuration_folder", "name_node_options"]

CONNECT_SECONDS = 3  # in which a machine that is on accepts a connection


def name_node_options(cluster: str | None) -> dict[str, str]:
    """Return the client option for the order of a cluster's name nodes: reachable ones first, the first one last.

    cluster: None for that of fs.defaultFS. The result is empty for a cluster with one name node.
    """
    properties = _configuration()
    cluster = cluster or urlsplit(properties.get("fs.defaultFS", "")).hostname
    option = f"dfs.ha.namenodes.{cluster}"
    first, *others = properties.get(option, "").replace(" ", "").split(",")
    address = {name: properties.get(f"dfs.namenode.rpc-address.{cluster}.{name}", "") for name in others}
    others.sort(key=lambda name: not _accepts(address[name]))
    return {option: ",".join([*others, first])} if others else {}


def configuration_folder(environ: Mapping[str, str]) -> str | None:
    """Return the folder of Hadoop's configuration, None if no variable says where it is."""
    home = environ.get("HADOOP_HOME")
    return environ.get("HADOOP_CONF_DIR") or (os.path.join(home, "etc", "hadoop") if home else None)


def _accepts(address):
    host, _, port = address.rpartition(":")
    with suppress(OSError, ValueError), socket.create_connection((host, int(port)), CONNECT_SECONDS):
        return True
    return False


def _configuration():
    """Return the properties of the two files, from where hdfs-native reads them."""
    properties: dict[str, str] = {}
    folder = configuration_folder(os.environ)
    if folder is None:
        return properties
    for name in ("core-site.xml", "hdfs-site.xml"):
        with suppress(OSError, ElementTree.ParseError):
            for each in ElementTree.parse(os.path.join(folder, name)).iter("property"):
                properties[each.findtext("name", "").strip()] = each.findtext("value", "").strip()
    return properties
