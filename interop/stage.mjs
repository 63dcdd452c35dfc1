// The network's control, and a running bridged with its API.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const realFetch = globalThis.fetch;

// Network creates phones, links devices to them and creates groups.
export class Network {
  constructor(control) {
    this.control = control;
  }

  async #step(path, body) {
    const answer = await realFetch(this.control + path, body && { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${(await answer.text()).trim()}`);
    return answer.json();
  }

  addPhone = (phone, name) => this.#step("/phones", { phone, name });
  linkByCode = (phone, code) => this.#step("/link", { phone, code });
  linkByQR = (phone, qr) => this.#step("/link", { phone, qr });
  addGroup = (phone, name, members, byNumber) => this.#step("/groups", { phone, name, members, byNumber });
  sendText = (phone, to, text) => this.#step("/texts", { phone, to, text });
  heard = (phone, text) => this.#step("/heard", { phone, text });
  // damaged corrupts the next message to the first device linked to a phone
  // while act runs, and returns how often the device asked for it again.
  async damaged(phone, act) {
    const before = await this.#step("/damage", { phone });
    let after;
    try {
      await act();
    } finally {
      after = await this.#step("/heal", { phone });
    }
    return after.RetryReceipts - before.RetryReceipts;
  }

  hideNumber = (phone) => this.#step("/hide", { phone });
  username = (phone, text) => this.#step("/username", { phone, text });
  unknown = () => this.#step("/unknown");

  fileURL = (name) => `${this.control}/files/${name}`;

  async file(name) {
    return Buffer.from(await (await realFetch(this.fileURL(name))).arrayBuffer());
  }
}

// redirectFetch sends requests for the network's hosts to the simulated network
// and refuses all others: nothing leaves this machine.
export async function redirectFetch(work) {
  const { websocketUrl } = JSON.parse(await readFile(join(work, "network.json")));
  const host = new URL(websocketUrl).host;
  globalThis.fetch = (resource, options = {}) => {
    const url = new URL(resource);
    if (url.hostname.endsWith(".whatsapp.net") || url.hostname.endsWith(".whatsapp.com")) url.host = host;
    if (url.host !== host) throw new Error(`a request to ${url.host}`);
    return realFetch(url, options);
  };
  return websocketUrl;
}

// Bridge is a running bridged. It follows the event log and so knows the current
// state of every message.
export class Bridge {
  token = "a-token-for-interoperability";
  #messages = new Map(); // by id
  #groups = new Map(); // by JID
  #chats = new Map(); // by JID
  #labels = new Map(); // by id
  #calls = new Map(); // by id
  #asked = new Map(); // by group, change of the request to join, and JID
  #changed = [];
  #cursor = "0";

  constructor(work, phone) {
    this.work = work;
    this.phone = phone;
  }

  start() {
    return this.run([], {
      PHONE_NUMBER: this.phone, DATA_DIR: join(this.work, "data"), WA_NETWORK_FILE: join(this.work, "network.json"),
      SIMULATED_FETCH_ALLOW: "127.0.0.0/8", LOG_LEVEL: "debug",
    }, /"addr(?:ess)?":"([^"]+)"/);
  }

  // run starts bridged and follows its events. A line with its address shows that it is
  // ready.
  async run(args, env, ready) {
    this.process = spawn(join(this.work, "bridged"), args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, HOME: this.work, BRIDGE_TOKEN: this.token, ENABLE_SEND: "true", LISTEN_ADDR: "127.0.0.1:0", LOG_FORMAT: "json", ...env },
    });
    this.ended = once(this.process, "exit");
    const { process: child } = this;
    process.once("exit", () => child.kill("SIGKILL")); // even after a check has thrown
    this.address = await this.#listening(createWriteStream(join(this.work, "bridged.log"), { flags: "a" }), ready);
    this.stopped = false;
    this.following = this.#follow();
  }

  // #listening collects what bridged prints, and waits for the line with the address.
  #listening(log, ready) {
    return new Promise((resolve, reject) => {
      let unfinished = "";
      this.process.once("exit", (code) => reject(new Error(`bridged ended with ${code}\n${unfinished}`)));
      const collect = (chunk) => {
        log.write(chunk);
        if (process.env.VERBOSE) process.stderr.write(chunk);
        unfinished = (unfinished + chunk).slice(-100_000);
        const found = ready.exec(unfinished);
        if (found) resolve(`http://${found[1]}`);
      };
      this.process.stdout.on("data", collect);
      this.process.stderr.on("data", collect);
    });
  }

  async stop() {
    this.stopped = true;
    this.process.kill("SIGTERM");
    await this.ended;
    await this.following;
  }

  async request(method, path, body) {
    const answer = await realFetch(this.address + path, {
      method, headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    return answer;
  }

  async call(method, path, body) {
    const answer = await this.request(method, path, body);
    const content = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${content.code}: ${content.error}`);
    return content;
  }

  // send calls a route that sends and returns the message's id.
  async send(route, body) {
    return (await this.call("POST", `/api/messages/${route}`, body)).msgId;
  }

  // change calls a route of a message in a chat.
  change = (method, jid, id, action, body) => this.call(method, `/api/chats/${encodeURIComponent(jid)}/messages/${id}${action}`, body);

  // changeChat calls a route of a chat.
  changeChat = (method, jid, action, body) => this.call(method, `/api/chats/${encodeURIComponent(jid)}${action}`, body);

  // file downloads the file of a message.
  async file(message) {
    const answer = await this.request("GET", message.media.downloadUrl);
    if (!answer.ok) throw new Error(`download: ${answer.status} ${await answer.text()}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  async #follow() {
    while (!this.stopped) {
      try {
        const page = await this.call("GET", `/api/events?after=${this.#cursor}&wait=30s&limit=1000`);
        this.#cursor = page.nextCursor ?? this.#cursor;
        for (const event of page.events) {
          if (event.group) this.#groups.set(event.chatJid, event.group);
          if (event.chat) this.#chats.set(event.chatJid, event.chat);
          if (event.label) this.#labels.set(event.label.id, event.label);
          if (event.call) this.#calls.set(event.call.id, event.call);
          for (const [what, people] of Object.entries(event.joinRequests ?? {})) for (const { jid } of people) this.#asked.set(`${event.chatJid} ${what} ${jid}`, event.id);
          if (event.message) this.#messages.set(event.message.msgId, { ...event.message, chatJid: event.chatJid });
        }
        this.#changed.splice(0).forEach((wake) => wake());
      } catch (err) {
        if (!this.stopped) throw err;
      }
    }
  }

  // message waits until a stored message is as wanted.
  message = (id, wanted) => this.#until(this.#messages, id, wanted);

  // that waits for a message that is as wanted.
  async that(wanted) {
    for (;;) {
      const found = [...this.#messages.values()].find(wanted);
      if (found) return found;
      await new Promise((wake) => this.#changed.push(wake));
    }
  }

  // group waits until a stored group is as wanted.
  group = (jid, wanted) => this.#until(this.#groups, jid, wanted);

  // chat waits until a chat has changed and is as wanted.
  chat = (jid, wanted) => this.#until(this.#chats, jid, wanted);

  // label waits until a label has changed and is as wanted.
  label = (id, wanted) => this.#until(this.#labels, id, wanted);

  // telephone waits until a call is in a state.
  telephone = (id, state) => this.#until(this.#calls, id, (call) => call.state === state);

  // asks waits until a person asks to join a group ("created") or withdraws
  // that ("revoked").
  asks = (group, what, jid) => this.#until(this.#asked, `${group} ${what} ${jid}`);

  async #until(known, name, wanted = () => true) {
    for (;;) {
      const found = known.get(name);
      if (found && wanted(found)) return found;
      await new Promise((wake) => this.#changed.push(wake));
    }
  }

  // seen returns the last known state of a message.
  seen = (id) => this.#messages.get(id);

  async state(wanted) {
    let { status } = await this.call("GET", "/api/auth/status");
    let after = "0";
    while (status !== wanted) {
      const page = await this.call("GET", `/api/events?after=${after}&types=account.status&wait=30s`);
      after = page.nextCursor ?? after;
      status = page.events.at(-1)?.status.status ?? status;
    }
  }
}
