"""A receiver of bridged's webhooks: it checks the signature, prints what is
written, and answers "pong" to whoever writes "ping". Python 3, nothing else.

Needs WEBHOOK_SECRET and BRIDGE_TOKEN as bridged has them; BRIDGE where it does
not run at http://127.0.0.1:8080.
"""

import base64
import hmac
import json
import os
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BRIDGE = os.environ.get("BRIDGE", "http://127.0.0.1:8080")
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE = 300  # seconds that the clocks may differ


def genuine(headers, body):
    """Standard Webhooks: HMAC-SHA256 of id, timestamp and body, joined by dots."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(KEY, signed, "sha256")).decode()
    fresh = abs(time.time() - int(headers["webhook-timestamp"])) < TOLERANCE
    return fresh and any(hmac.compare_digest(expected, s) for s in headers["webhook-signature"].split())


def answer(webhook_id, event):
    """The webhook's id as Idempotency-Key: however often it comes, one answer goes out."""
    body = {"jid": event["chatJid"], "text": "pong", "quotedMsgId": event["message"]["msgId"]}
    headers = {"Authorization": "Bearer " + os.environ["BRIDGE_TOKEN"], "Content-Type": "application/json", "Idempotency-Key": webhook_id}
    urllib.request.urlopen(urllib.request.Request(BRIDGE + "/api/messages/send", json.dumps(body).encode(), headers))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not genuine(self.headers, body):
            return self.done(401)
        posted = json.loads(body)
        if posted["type"] == "message.created":
            event = posted["data"]
            print(event["chatJid"], event["message"]["pushName"] + ":", event["message"]["content"], flush=True)
            if not event["message"]["fromMe"] and "ping" in event["message"]["content"].lower():
                answer(self.headers["webhook-id"], event)
        self.done(204)  # anything but 2xx, and it comes again

    def done(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 9000), Receiver).serve_forever()
