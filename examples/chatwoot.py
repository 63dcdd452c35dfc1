"""A channel between bridged and Chatwoot: what people write to the account comes
into an inbox of Chatwoot's API channel, and what agents answer there goes out.
Python 3, nothing more.

BRIDGE and BRIDGE_TOKEN are bridged's, WEBHOOK_SECRET is that of a webhook for
http://…/bridged with the filters types=[message.created], fromMe=false and
chatType=individual. CHATWOOT is Chatwoot's address, INBOX the inbox identifier
of the API channel, whose callback URL is http://…/chatwoot/CALLBACK_KEY, with a
CALLBACK_KEY that nobody guesses. STATE is the file of what belongs together,
PORT where it listens.
"""

import base64
import hmac
import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BRIDGE = os.environ.get("BRIDGE", "http://127.0.0.1:8080").rstrip("/")
TOKEN = os.environ["BRIDGE_TOKEN"]
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
INBOX = os.environ["CHATWOOT"].rstrip("/") + "/public/api/v1/inboxes/" + urllib.parse.quote(os.environ["INBOX"], safe="")
CALLBACK = "/chatwoot/" + os.environ["CALLBACK_KEY"]
STATE = os.environ.get("STATE", "chatwoot-state.json")
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "9001"))
TOLERANCE = 300  # seconds that the clocks may differ

lock = threading.Lock()  # over state and its file


def load():
    try:
        with open(STATE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"chats": {}, "seen": []}


state = load()  # chats: JID to source and conversation; seen: the last ids of bridged


def save():
    with open(STATE + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(STATE + ".new", STATE)


def post(url, body, headers=()):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **dict(headers)})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def conversation(chat, message):
    """Returns where a chat goes on in Chatwoot; its first message makes a contact and a conversation."""
    known = state["chats"].get(chat)
    if known:
        return known
    contact = {"identifier": chat, "name": message["pushName"] or chat.split("@")[0]}
    if chat.endswith("@s.whatsapp.net"):
        contact["phone_number"] = "+" + chat.split("@")[0]
    source = post(INBOX + "/contacts", contact)["source_id"]
    made = post(f"{INBOX}/contacts/{source}/conversations", {})
    state["chats"][chat] = {"source": source, "conversation": made["id"]}
    save()
    return state["chats"][chat]


def text_of(message):
    file = message["media"]
    if file:
        return f"[{file['type']} {file['fileName'] or ''}] {message['content']}".replace(" ]", "]").strip()
    return message["content"] or f"[{message['messageType']}]"


def write(chat, message, webhook_id):
    to = conversation(chat, message)
    url = f"{INBOX}/contacts/{to['source']}/conversations/{to['conversation']}/messages"
    post(url, {"content": text_of(message), "echo_id": webhook_id})


def from_bridged(webhook_id, posted):
    """One message after the other, each once: bridged posts again what was not answered with 2xx."""
    if posted["type"] != "message.created" or posted["data"]["message"]["fromMe"]:
        return 204
    with lock:
        if webhook_id in state["seen"]:
            return 204
        chat, message = posted["data"]["chatJid"], posted["data"]["message"]
        try:
            write(chat, message, webhook_id)
        except urllib.error.HTTPError as e:
            if e.code != 404 or chat not in state["chats"]:
                raise
            del state["chats"][chat]  # somebody deleted it in Chatwoot: a new one
            write(chat, message, webhook_id)
        state["seen"] = (state["seen"] + [webhook_id])[-10000:]
        save()
    return 204


def from_chatwoot(posted):
    """What agents write, and no notes among themselves. Files go out as links."""
    if posted.get("event") != "message_created" or posted.get("message_type") != "outgoing" or posted.get("private"):
        return 204
    source = posted["conversation"]["contact_inbox"]["source_id"]
    with lock:
        chat = next((jid for jid, known in state["chats"].items() if known["source"] == source), None)
    lines = [posted.get("content") or ""] + [file["data_url"] for file in posted.get("attachments") or []]
    text = "\n".join(line for line in lines if line)
    if chat and text:
        headers = {"Authorization": "Bearer " + TOKEN, "Idempotency-Key": f"chatwoot-{posted['id']}"}
        post(BRIDGE + "/api/messages/send", {"jid": chat, "text": text}, headers)
    return 204


def genuine(headers, body):
    """Standard Webhooks: HMAC-SHA256 of id, timestamp and body, joined by dots."""
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    expected = "v1," + base64.b64encode(hmac.digest(KEY, f"{webhook_id}.{timestamp}.".encode() + body, "sha256")).decode()
    signed = any(hmac.compare_digest(expected, s) for s in headers.get("webhook-signature", "").split() if s.isascii())
    return signed and abs(time.time() - int(timestamp)) < TOLERANCE


class Channel(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.take(body))
        self.end_headers()

    def take(self, body):
        try:
            if self.path == "/bridged":
                return from_bridged(self.headers["webhook-id"], json.loads(body)) if genuine(self.headers, body) else 401
            if hmac.compare_digest(self.path.encode(), CALLBACK.encode()):
                return from_chatwoot(json.loads(body))
            return 404
        except urllib.error.HTTPError as e:
            # bridged posts it again, and Chatwoot shows the agent that it was not sent.
            print("refused:", urllib.parse.urlsplit(e.url).path, e.code, e.read(1000).decode(errors="replace"), flush=True)
            return 503
        except OSError as e:
            print("not reached:", e, flush=True)
            return 503

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer((HOST, PORT), Channel)
    print(f"listening at http://{HOST}:{PORT}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
