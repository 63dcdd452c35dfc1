"""A receiver of bridged's webhooks: it checks the signature, prints what is
written, and answers "pong" to a message that says "ping" and nothing else.
Python 3, nothing more.

WEBHOOK_SECRET is the webhook's: as in bridged's environment, or as shown when
the webhook was made over the API. BRIDGE_TOKEN is bridged's. BRIDGE is needed
where bridged does not run at http://127.0.0.1:8080, PORT where 9000 is taken.
"""

import base64
import hmac
import json
import os
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BRIDGE = os.environ.get("BRIDGE", "http://127.0.0.1:8080")
PORT = int(os.environ.get("PORT", "9000"))
TOKEN = os.environ["BRIDGE_TOKEN"]
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE = 300  # seconds that the clocks may differ


def genuine(headers, body):
    """Standard Webhooks: HMAC-SHA256 of id, timestamp and body, joined by dots."""
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    expected = "v1," + base64.b64encode(hmac.digest(KEY, f"{webhook_id}.{timestamp}.".encode() + body, "sha256")).decode()
    signed = any(hmac.compare_digest(expected, s) for s in headers.get("webhook-signature", "").split() if s.isascii())
    return signed and abs(time.time() - int(timestamp)) < TOLERANCE


def is_ping(message):
    """Exactly the word: a bot that answers whatever contains it talks in everybody's chats."""
    return not message["fromMe"] and message["content"].strip().lower() == "ping"


def answer(webhook_id, event):
    """The webhook's id as Idempotency-Key: however often it comes, one answer goes out."""
    body = {"jid": event["chatJid"], "text": "pong", "quotedMsgId": event["message"]["msgId"]}
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "Idempotency-Key": webhook_id}
    urllib.request.urlopen(urllib.request.Request(BRIDGE + "/api/messages/send", json.dumps(body).encode(), headers)).close()


def take(webhook_id, posted):
    """Returns the status that bridged gets: anything but 2xx, and the event comes again."""
    if posted["type"] != "message.created":
        return 204
    event = posted["data"]
    message = event["message"]
    print(f"{event['chatJid']} {message['pushName']}: {message['content']}", flush=True)
    if is_ping(message):
        try:
            answer(webhook_id, event)
        except urllib.error.HTTPError as e:
            print("no answer was sent:", e.read().decode(), flush=True)
            return 503 if e.code >= 500 else 204  # what was refused once is refused again
    return 204


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        ok = genuine(self.headers, body)
        self.send_response(take(self.headers["webhook-id"], json.loads(body)) if ok else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print(f"listening at http://127.0.0.1:{PORT}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
