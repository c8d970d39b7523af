"""STOMP frames as recorded from the original, and a server over a real socket."""
import base64
import hashlib
import json
import socket
import struct
import threading

import pytest

from esi_colocation.main import Clock
from esi_colocation.topics import BadFrame, Frames, Topics, frame, message

CONNECTED = b"CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\x00"
ADDED = (b'MESSAGE\ndestination:/topic/schedulings/flow-1\ncontent-type:application/json\nsubscription:2\n'
         b'message-id:9a656d83-dcf0-fc28-498f-c26c531aaa92-1\ncontent-length:154\n\n'
         b'{"action":"ADDED","resource":{"name":"flow-1","state":null,"jobStatus":[],'
         b'"testBed":"scheduler-slots","queue":["spark-job-1","spark-job-1"],"slots":null}}\x00')


def test_recorded_frames_are_read_whole_in_pieces_and_several_at_once():
    whole = Frames().feed(CONNECTED + b"\n\n" + ADDED)
    assert [command for command, _, _ in whole] == ["CONNECTED", "MESSAGE"]
    assert whole[0][1:] == ({"version": "1.2", "heart-beat": "0,0"}, b"")
    pieces = Frames()
    assert [one for at in range(len(ADDED)) for one in pieces.feed(ADDED[at:at + 1])] == whole[1:]


def test_a_body_may_hold_zero_bytes_and_lines_may_end_in_crlf():
    found = Frames().feed(b"MESSAGE\r\ncontent-length:3\r\nx:a\\cb\\n\r\n\r\na\0b\0")
    assert found == [("MESSAGE", {"content-length": "3", "x": "a:b\n"}, b"a\0b")]


@pytest.mark.parametrize("bad", [b"MESSAGE\nno colon\n\n\0", b"MESSAGE\ncontent-length:x\n\n\0",
                                 b"MESSAGE\ncontent-length:1\n\nab\0"])
def test_what_is_not_a_frame_is_an_error(bad):
    with pytest.raises(BadFrame):
        Frames().feed(bad)


def test_a_frame_is_sent_as_the_recorded_ones():
    assert frame("CONNECT", {"accept-version": "1.1,1.2", "host": "127.0.0.1", "heart-beat": "0,0"}) == \
        "CONNECT\naccept-version:1.1,1.2\nhost:127.0.0.1\nheart-beat:0,0\n\n\x00"


def test_a_recorded_message_is_about_its_object_only():
    (_, headers, body), = Frames().feed(ADDED)
    action, found = message("schedulings", "flow-1", headers, body)
    assert (action, found.name, found.state, found.queue) == \
        ("ADDED", "flow-1", None, ["spark-job-1", "spark-job-1"])
    assert message("schedulings", "flow-2", headers, body) is None


@pytest.mark.parametrize("change", [{"state": "NewState"}, {"surprise": 1}])
def test_a_message_with_something_unknown_is_dropped_as_the_original_does(change):
    body = json.loads(ADDED[ADDED.index(b"{"):-1])
    body["resource"] |= change
    assert message("schedulings", "flow-1", {"destination": "/topic/schedulings/flow-1"},
                   json.dumps(body).encode()) is None


class Server:
    """One WebSocket server for one connection; `script` gets the socket after the handshake."""

    def __init__(self, script):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.got = []
        self.thread = threading.Thread(target=self.serve, args=(script,), daemon=True)
        self.thread.start()

    def serve(self, script):
        peer, _ = self.listener.accept()
        with peer:
            head = b""
            while b"\r\n\r\n" not in head:
                head += peer.recv(4096)
            self.got.append(head.split(b"\r\n")[0].decode())
            key = next(line.split(b": ")[1] for line in head.split(b"\r\n")
                       if line.lower().startswith(b"sec-websocket-key"))
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            peer.sendall(b"HTTP/1.1 101 \r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                         b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            script(self, peer)

    def expect(self, peer):
        head = exactly(peer, 2)
        size = head[1] & 127
        if size == 126:
            size, = struct.unpack(">H", exactly(peer, 2))
        mask, data = exactly(peer, 4), exactly(peer, size)
        self.got.append(bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)).decode())


def exactly(peer, size):
    data = b""
    while len(data) < size:
        data += peer.recv(size - len(data)) or pytest.fail("closed")
    return data


def send(peer, data):
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
    peer.sendall(b"\x81" + size + data)


def test_a_subscription_tells_what_the_server_sends_and_waits_where_it_says_nothing():
    done = threading.Event()

    def script(server, peer):
        server.expect(peer)
        send(peer, CONNECTED)
        server.expect(peer)
        send(peer, ADDED[:100])
        send(peer, ADDED[100:])
        done.wait(10)

    server, said = Server(script), []
    with Topics(server.url, Clock(), said.append).subscribe("schedulings", "flow-1") as topic:
        assert topic.live
        action, found = topic.next(10)
        assert (action, found.name) == ("ADDED", "flow-1")
        assert topic.next(0.05) is None
        assert topic.live and said == []
        done.set()
    host = server.url.removeprefix("http://")
    assert server.got == ["GET /scheduler HTTP/1.1",
                          f"CONNECT\naccept-version:1.1,1.2\nhost:{host}\nheart-beat:0,0\n\n\0",
                          "SUBSCRIBE\nid:0\ndestination:/topic/schedulings/flow-1\n\n\0"]


def test_a_connection_that_breaks_turns_into_waiting_and_is_mentioned_once():
    def script(server, peer):
        server.expect(peer)
        send(peer, CONNECTED)
        server.expect(peer)

    server, said = Server(script), []
    topics = Topics(server.url, Clock(), said.append)
    with topics.subscribe("schedulings", "flow-1") as topic:
        server.thread.join(10)
        server.listener.close()
        assert topic.next(10) is None
        assert not topic.live
        assert topic.next(0.01) is None
    with topics.subscribe("schedulings", "flow-2") as topic:
        assert not topic.live
    assert len(said) == 1 and "looking from time to time instead" in said[0]


def test_a_server_without_topics_is_no_error():
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    said = []
    with Topics(url, Clock(), said.append).subscribe("jobs", "a") as topic:
        assert topic.next(0.01) is None
    assert len(said) == 1
