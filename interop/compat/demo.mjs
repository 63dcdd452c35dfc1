// The demo with its compatibility APIs, and receivers of webhooks.
import { createServer } from "node:http";
import { once } from "node:events";
import { Bridge } from "./shared/stage.mjs";

// Demo is a running demo. Its people answer texts.
export class Demo extends Bridge {
  account = "15550100200";
  // friend answers in Spanish, with letters that are not ASCII.
  friend = { phone: "34600100101", jid: "34600100101@s.whatsapp.net", name: "Sofi" };

  async start(env) {
    await this.run(["demo"], { WEBHOOK_ALLOW_PRIVATE: "127.0.0.0/8", ...env }, /^ {2}address {2}http:\/\/(\S+)$/m);
    this.picture = await this.#picture();
  }

  // #picture returns a picture that bridged sends as it is: what it has made of one that is
  // no JPEG.
  async #picture() {
    const form = new FormData();
    form.set("jid", this.friend.jid);
    form.set("file", new Blob([await this.file(await this.that((m) => m.media?.mimetype === "image/png"))]), "picture.png");
    const answer = await fetch(`${this.address}/api/messages/send-file`, { method: "POST", headers: { Authorization: `Bearer ${this.token}` }, body: form });
    return this.file(await this.message((await answer.json()).msgId));
  }

  // key makes a token with scopes for a client.
  async key(name, ...scopes) {
    return (await this.call("POST", "/api/tokens", { name, scopes })).secret;
  }

  // unread returns how many messages of a chat are unread.
  unread = async (jid) => (await this.call("GET", `/api/chats/${encodeURIComponent(jid)}`)).unreadCount;

  // answered waits for the friend's answer to a text.
  answered = (text) => this.that((m) => !m.fromMe && m.content.includes(`«${text}»`));

  // written waits for an own message with a text.
  written = (text) => this.that((m) => m.fromMe && m.content === text);
}

// listen starts a server for the posts of webhooks. What its handler throws is answered
// with 500, and thrown when it closes.
export async function listen(handle) {
  const faults = [];
  const server = createServer((request, response) => handle(request, response).catch((error) => {
    faults.push(error);
    response.writeHead(500).end();
  }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close() {
      server.close();
      server.closeAllConnections();
      if (faults.length) throw faults[0];
    },
  };
}

// freeAddress returns an address of this machine that is free.
export async function freeAddress() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return `127.0.0.1:${port}`;
}

// textOf returns the body of a request.
export async function textOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

// Inbox keeps what a client received.
export class Inbox {
  #items = [];
  #changed = [];

  put(item) {
    this.#items.push(item);
    this.#changed.splice(0).forEach((wake) => wake());
  }

  // that waits for an item that is as wanted.
  async that(wanted) {
    for (;;) {
      const found = this.#items.find(wanted);
      if (found) return found;
      await new Promise((wake) => this.#changed.push(wake));
    }
  }
}
