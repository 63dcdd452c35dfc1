// A person on the network who uses Baileys.
import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import {
  DisconnectReason, WA_CERT_DETAILS, default as makeSocket, downloadMediaMessage, generateMessageIDV2, normalizeMessageContent,
  useMultiFileAuthState,
} from "baileys";
import pino from "pino";

const logger = pino({ level: process.env.VERBOSE ? "warn" : "silent" }, pino.destination(2));

// sending holds the id of the message being sent.
const sending = new AsyncLocalStorage();

// trust makes Baileys accept the simulated network's Noise certificates.
export function trust(rootKey) {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, "base64");
}

// shared names Baileys' events about what the devices of an account share.
const shared = ["chats.update", "contacts.upsert", "labels.association", "labels.edit", "messages.delete"];

// itemsOf returns what such an event is about.
const itemsOf = (content) => (Array.isArray(content) ? content : content.keys ?? [content]);

export class Person {
  messages = new Map(); // by id, in order
  updates = []; // of messages: edits, deletions, delivery
  reactions = [];
  calls = [];
  changes = []; // of what the account's devices share
  #contents = new Map(); // of sent messages, by id
  #changed = [];

  constructor(network, url, work, phone, name) {
    Object.assign(this, { network, url, work, phone, name });
    this.device = name;
  }

  // register gives the person a phone if they have none.
  async register() {
    Object.assign(this, await this.network.addPhone(this.phone, this.name));
  }

  // link links Baileys to the phone, by "code" or "qr".
  async link(by) {
    const linked = await new Promise((resolve, reject) => {
      this.#connect({ by, resolve, reject }).catch(reject);
    });
    await linked;
    await this.online();
  }

  async #connect(pairing) {
    const { state, saveCreds } = await useMultiFileAuthState(join(this.work, "people", this.device));
    this.sock = makeSocket({
      waWebSocketUrl: this.url, auth: state, logger,
      // A retry may ask for it before sendMessage has returned.
      patchMessageBeforeSending: (message) => {
        if (sending.getStore()) this.#contents.set(sending.getStore(), message);
        return message;
      },
      getMessage: async (key) => this.#contents.get(key.id) ?? this.messages.get(key.id)?.message ?? undefined,
    });
    const { ev } = this.sock;
    ev.on("creds.update", saveCreds);
    ev.on("connection.update", (update) => this.#connection(update, pairing));
    ev.on("messages.upsert", ({ messages }) => this.#note(() => messages.forEach((m) => m.message && this.messages.set(m.key.id, m))));
    ev.on("messages.update", (updates) => this.#note(() => this.updates.push(...updates)));
    ev.on("call", (calls) => this.#note(() => this.calls.push(...calls)));
    for (const event of shared) ev.on(event, (content) => this.#note(() => this.changes.push(...itemsOf(content).map((what) => ({ event, what })))));
    ev.on("messages.reaction", (reactions) => this.#note(() => this.reactions.push(...reactions)));
  }

  #connection(update, pairing) {
    if (update.qr && pairing && !pairing.begun) {
      pairing.begun = true;
      pairing.resolve(this.#pair(pairing.by, update.qr));
    }
    if (update.connection === "open") {
      this.isOpen = true;
      this.#note(() => {});
    }
    if (update.connection !== "close") return;
    this.isOpen = false;
    const reason = update.lastDisconnect?.error?.output?.statusCode;
    if (reason === DisconnectReason.restartRequired) this.#connect();
    else if (!this.leaving) this.#note(() => (this.failed = update.lastDisconnect?.error ?? new Error("disconnected")));
  }

  async #pair(by, qr) {
    if (by === "qr") return this.network.linkByQR(this.phone, qr);
    return this.network.linkByCode(this.phone, await this.sock.requestPairingCode(this.phone));
  }

  online = () => this.#until(() => this.isOpen);

  async leave() {
    this.leaving = true;
    await this.sock.end(undefined);
  }

  async return() {
    this.leaving = false;
    await this.#connect();
    await this.online();
  }

  #note(change) {
    change();
    this.#changed.splice(0).forEach((wake) => wake());
  }

  async #until(find) {
    for (;;) {
      const found = find();
      if (found) return found;
      if (this.failed) throw this.failed;
      await new Promise((wake) => this.#changed.push(wake));
    }
  }

  // send sends a message and returns the whole of it.
  async send(to, content, options) {
    const messageId = generateMessageIDV2(this.sock.user.id);
    const sent = await sending.run(messageId, () => this.sock.sendMessage(to, content, { ...options, messageId }));
    if (!this.messages.has(sent.key.id)) this.messages.set(sent.key.id, sent);
    return sent;
  }

  // relay sends a message that Baileys has no method for.
  async relay(to, message) {
    const messageId = generateMessageIDV2(this.sock.user.id);
    return sending.run(messageId, () => this.sock.relayMessage(to, message, { messageId }));
  }

  message = (id) => this.#until(() => this.messages.get(id));
  // that waits for a message that is as wanted.
  that = (wanted) => this.#until(() => [...this.messages.values()].find(wanted));
  // change waits for an event of Baileys that is as wanted.
  change = async (event, wanted) => (await this.#until(() => this.changes.find((c) => c.event === event && wanted(c.what)))).what;
  starred = (id, is) => this.#until(() => this.updates.some((u) => u.key.id === id && u.update.starred === is));
  // delivered waits until a message has been delivered. Baileys reports
  // that as an update, or in the message itself if both come at once.
  delivered = (id) => this.#until(() => this.messages.get(id)?.status >= 3 || this.updates.some((u) => u.key.id === id && u.update.status >= 3));
  reaction = (id, emoji) => this.#until(() => this.reactions.find((r) => r.key.id === id && r.reaction.text === emoji));

  // telephone waits for an event of a call: "offer", "reject" ..
  telephone = (id, status) => this.#until(() => this.calls.find((c) => c.id === id && c.status === status));

  // content waits for a message and returns its content without wrappers.
  content = async (id) => normalizeMessageContent((await this.message(id)).message);

  // file downloads and decrypts the file of a message.
  file = async (message) => downloadMediaMessage(message, "buffer", {});
}
