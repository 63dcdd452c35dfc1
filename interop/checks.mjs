// All checks in order: people are linked, then every kind of message in both
// directions, in direct chats and in groups, then messages to people who are
// offline.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { equal, ok } from "node:assert/strict";
import { Bridge, Network, redirectFetch } from "./stage.mjs";
import { Person, trust } from "./person.mjs";
import { check, print } from "./table.mjs";
import { received } from "./received.mjs";
import { sent } from "./sent.mjs";
import { group } from "./group.mjs";
import { joining } from "./joining.mjs";
import { calls } from "./calls.mjs";
import { own } from "./own.mjs";
import { synced } from "./synced.mjs";
import { hidden } from "./hidden.mjs";

const [work, control] = process.argv.slice(2);
const network = new Network(control);
const url = await redirectFetch(work);
trust(JSON.parse(await readFile(join(work, "network.json"))).noiseRootKey);

const person = (phone, name) => new Person(network, url, work, phone, name);
const owner = person("4915100000001", "Owner");
const anna = person("4915100000002", "Anna");
const ben = person("4915100000003", "Ben");
for (const someone of [owner, anna, ben]) await someone.register();

const bridge = new Bridge(work, owner.phone);
await bridge.start();
const { code } = await bridge.call("POST", "/api/auth/pair");
await network.linkByCode(owner.phone, code);
await bridge.state("open");

const linked = [
  await check("pairing", "Baileys by code, as a contact's device", () => anna.link("code")),
  await check("pairing", "Baileys by QR code, as another contact's device", () => ben.link("qr")),
  await check("pairing", "Baileys by code, as another device of the account", () => owner.link("code")),
];
if (!linked.every(Boolean)) await end();

const files = {};
for (const name of ["picture.jpg", "clip.mp4", "voice.ogg", "page.pdf", "sticker.webp"]) files[name] = await network.file(name);

// newDevice links another Baileys to a person.
const newDevice = (of, name) => Object.assign(person(of.phone, of.name), { pn: of.pn, lid: of.lid, device: `${of.name} ${name}` });

const cast = { network, bridge, owner, anna, ben, newDevice, files };
await received(cast);
await sent(cast);
await group(cast, true);
await group(cast, false);
await joining(cast);
await calls(cast);
await own(cast);
await synced(cast);
await hidden(cast, person("4915100000004", "Carla"));

await check("away", "messages sent while bridged was stopped", async () => {
  await bridge.stop();
  const { key } = await anna.send(owner.pn, { text: "while you were away" });
  await bridge.start();
  await bridge.state("open");
  equal((await bridge.message(key.id)).content, "while you were away");
});
await check("away", "messages sent while Baileys was offline", async () => {
  await anna.leave();
  const id = await bridge.send("send", { jid: anna.pn, text: "while Anna was away" });
  await anna.return();
  equal((await anna.content(id)).extendedTextMessage?.text ?? (await anna.content(id)).conversation, "while Anna was away");
});
await check("network", "every query was understood", async () => equal(JSON.stringify(await network.unknown()), "{}"));
await check("bridged", "every message could be decrypted", async () => {
  for (const jid of [anna.pn, ben.pn]) {
    const { messages } = await bridge.call("GET", `/api/messages/individual/${encodeURIComponent(jid)}?limit=1000`);
    ok(messages.length > 0);
    equal(messages.filter((m) => m.messageType === "undecryptable").length, 0);
  }
});

await end();

// end prints the outcome and stops everything.
async function end() {
  const failed = print();
  for (const someone of [owner, anna, ben]) await someone.leave();
  await bridge.stop();
  process.exit(failed ? 1 : 0);
}
