// Reads a bridge's events from NATS with NATS's own JavaScript client, and
// compares them with the log and with the posts to a webhook receiver. Prints "N
// passed, N failed".
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const { BRIDGED, BRIDGE_TOKEN, NATS_URL } = process.env;
let passed = 0;
let failed = 0;

function check(what, ok, detail) {
  ok ? passed++ : failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${what}${ok ? "" : `: ${detail}`}`);
}

const posted = new Map();
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  posted.set(request.headers["webhook-id"], body);
  response.end();
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");

const demo = spawn(BRIDGED, ["demo"], {
  env: {
    ...process.env,
    LISTEN_ADDR: "127.0.0.1:0",
    NATS_REPLICAS: "3",
    DEMO_NUMBER: "15550100200",
    WEBHOOK_URL: `http://127.0.0.1:${receiver.address().port}/`,
    WEBHOOK_SECRET: "whsec_" + Buffer.from("only for this comparison, 32 byte").toString("base64"),
  },
});
process.on("exit", () => demo.kill());
let printed = "";
const BRIDGE = await new Promise((resolve, reject) => {
  const look = (data) => {
    printed += data;
    const found = printed.match(/http:\/\/127\.0\.0\.1:\d+/);
    if (found) resolve(found[0]);
  };
  demo.stdout.on("data", look);
  demo.stderr.on("data", look);
  demo.on("exit", () => reject(new Error(printed)));
});

async function api(method, path, body) {
  const answer = await fetch(BRIDGE + path, {
    method,
    headers: { Authorization: `Bearer ${BRIDGE_TOKEN}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  return answer.json();
}

async function eventually(what, look) {
  for (let i = 0; i < 600; i++) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited for ${what} in vain`);
}

const status = await eventually("the account", async () => {
  const now = await api("GET", "/api/auth/status");
  return now.status === "open" && now;
});
const account = status.user.jid.split("@")[0];
const { chats } = await api("GET", "/api/chats?type=individual");
for (let i = 0; i < 5; i++) {
  const sent = await api("POST", "/api/messages/send", { jid: chats[0].jid, text: `question ${i}` });
  if (!sent.ok) throw new Error(JSON.stringify(sent));
}
// log holds the events once their log has stopped growing.
let seen = -1;
const log = await eventually("a quiet log", async () => {
  const { events } = await api("GET", "/api/events?after=0&limit=1000&wait=2s");
  const last = events.at(-1)?.id ?? 0;
  const isQuiet = last === seen && posted.size >= events.length;
  seen = last;
  if (!isQuiet) await new Promise((resolve) => setTimeout(resolve, 2000));
  return isQuiet && events;
});

const connection = await connect({ servers: NATS_URL.split(",") });
const js = jetstream(connection);
const subject = `bridged.${account}.events.>`;
const consumer = await js.consumers.get("BRIDGED_EVENTS", { filter_subjects: subject });
const read = [];
for await (const m of await consumer.consume()) {
  read.push(m);
  if (m.info.pending === 0 && Number(m.headers.get("Bridged-Event")) >= log.at(-1).id) break;
}

const numbers = read.map((m) => Number(m.headers.get("Bridged-Event")));
check("every event once, in order", JSON.stringify(numbers) === JSON.stringify(log.map((e) => e.id)), `${numbers} for ${log.map((e) => e.id)}`);
check("under its type", read.every((m) => m.subject === `bridged.${account}.events.${m.json().type}`), read.map((m) => m.subject));
check("ids that are different", new Set(read.map((m) => m.headers.get("Nats-Msg-Id"))).size === read.length, "some are the same");
const bodies = read.map((m) => [posted.get(m.headers.get("Webhook-Id")), m.string(), m.json()]);
check("what webhooks were posted", bodies.every(([hook]) => hook), `${bodies.filter(([hook]) => !hook).length} were not`);
// Statuses of own messages may change between two reads; texts of others do not.
const texts = bodies.filter(([, , event]) => event.type === "message.created" && !event.data.message.fromMe);
const other = texts.find(([hook, body]) => hook !== body);
check(`the same bodies, ${texts.length} of them`, texts.length >= 5 && !other, other);

await connection.close();
demo.removeAllListeners("exit");
demo.kill();
await once(demo, "exit");
receiver.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
