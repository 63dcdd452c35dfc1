// The trigger's way along the log, with an n8n that can be killed at any moment.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import follow from "../dist/nodes/BridgedTrigger/follow.js";

const settings = { types: ["message.created"], chats: [], chatType: "all", fromMe: false, parallel: 5, again: true, gap: "error" };
const event = (id, chatJid = "1@s.whatsapp.net") => ({ id, type: "message.created", timestamp: `t${id}`, chatJid, message: { msgId: `m${id}`, media: null } });

// settled waits until everything that can go on has done so.
async function settled() {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
}

// N8n keeps the state that it saved with the last execution, and refuses a key that it knows.
class N8n {
  saved;
  executions = new Map(); // by key
  items = [];
  open = [];
  failures = [];
  errors = [];

  constructor(log, oldest = 0) {
    Object.assign(this, { log, oldest });
  }

  // start runs the trigger until it has read the whole log, as after a start of n8n.
  start(more = {}) {
    const closing = new AbortController();
    let live = true;
    const state = { after: this.saved ?? "0" };
    const end = new Promise((resolve) => (this.end = resolve));
    const context = {
      getNode: () => ({ id: "node", name: "Trigger", type: "t", typeVersion: 1, position: [0, 0], parameters: {} }),
      getWorkflow: () => ({ id: "flow" }),
      getCredentials: async () => ({ baseUrl: "http://bridge" }),
      logger: { warn: () => {} },
      saveFailedExecution: (error) => this.failures.push(error),
      emitError: (error) => this.errors.push(error),
      emit: ([[item]], response, done, key) => {
        if (!live) return;
        this.saved = state.after;
        if (this.executions.has(key)) return done.resolve(undefined);
        if (this.refusing?.()) return done.reject(new Error("the database is locked"));
        this.executions.set(key, item.json);
        this.items.push(item);
        if (this.hold) this.open.push(() => done.resolve({}));
        else done.resolve({});
      },
      helpers: {
        createDeferredPromise: () => {
          const deferred = {};
          deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
          return deferred;
        },
        prepareBinaryData: async (body, name, mimeType) => ({ data: body, fileName: name, mimeType }),
        httpRequestWithAuthentication: async (type, { url, qs, abortSignal }) => {
          if (url.includes("/media/")) {
            const file = this.files[new URL(url).pathname];
            return typeof file === "function" ? await file(abortSignal) : file;
          }
          if (this.status) return { statusCode: this.status, headers: {}, body: { error: "no", code: "unauthorized" } };
          const after = Number(qs.after);
          const events = this.log.filter(({ id }) => id > after && id > this.oldest).slice(0, 3);
          if (!events.length) {
            this.end();
            await new Promise((_, reject) => abortSignal.addEventListener("abort", () => reject(new Error("aborted"))));
          }
          return { statusCode: 200, headers: {}, body: { events, nextCursor: String(events.at(-1).id), reset: after < this.oldest } };
        },
      },
    };
    const running = new follow.Follower(context, { ...settings, ...more }, state, closing.signal).run();
    const stop = async () => {
      live = false;
      closing.abort();
      await running;
    };
    const read = async () => {
      await end;
      await settled();
    };
    return { read, stop, running };
  }

  ids = () => [...this.executions.values()].map(({ id }) => id);
}

test("each event starts one execution, over kills at rest", async () => {
  const n8n = new N8n([1, 2, 4, 7].map((id) => event(id)));
  let run = n8n.start();
  await run.read();
  await run.stop(); // the state that was saved last is that of the last event's start
  n8n.log.push(event(9));
  run = n8n.start();
  await run.read();
  await run.stop();
  deepEqual(n8n.ids(), [1, 2, 4, 7, 9]);
});

test("what was running at a kill, or waiting for its turn, is started once", async () => {
  const n8n = new N8n([event(1), event(2), event(3, "2@g.us"), event(4)]);
  n8n.hold = true;
  let run = n8n.start();
  await run.read();
  deepEqual(n8n.ids(), [1, 3]); // 2 and 4 are in the chat of 1
  await run.stop();
  n8n.hold = false;
  run = n8n.start();
  await run.read();
  await run.stop();
  deepEqual(n8n.ids().sort(), [1, 2, 3, 4]);
});

test("one chat's executions follow one another, and no more run than may", async () => {
  const n8n = new N8n([event(1), event(2), event(3, "2@g.us"), event(4, "3@g.us")]);
  n8n.hold = true;
  const run = n8n.start({ parallel: 3 });
  await settled();
  deepEqual(n8n.ids(), [1, 3]);
  n8n.open.shift()();
  await run.read();
  deepEqual(n8n.ids(), [1, 3, 2, 4]);
  await run.stop();
});

test("without n8n's records, an event is not handed over again", async () => {
  const n8n = new N8n([event(1), event(2)]);
  let run = n8n.start({ again: false });
  await run.read();
  await run.stop();
  n8n.executions.clear();
  run = n8n.start({ again: false });
  await run.read();
  await run.stop();
  deepEqual(n8n.ids(), []);
});

test("an execution that n8n cannot start is started later", async () => {
  const n8n = new N8n([event(1)]);
  let failures = 1;
  n8n.refusing = () => failures-- > 0;
  const run = n8n.start();
  while (!n8n.executions.size) await new Promise(setImmediate);
  await run.stop();
  deepEqual(n8n.ids(), [1]);
});

test("a gap in the log is told, and what is left goes on", async () => {
  const told = new N8n([event(5)], 4);
  let run = told.start();
  await run.read();
  await run.stop();
  match(told.failures[0].message, /Events after number 0 had left/);
  deepEqual(told.ids(), [5]);

  const item = new N8n([event(5)], 4);
  run = item.start({ gap: "item" });
  await run.read();
  await run.stop();
  deepEqual([...item.executions.values()].map(({ type, after, id }) => [type, after ?? id]), [["reset", 0], ["message.created", 5]]);
});

test("events of another kind of chat are passed over", async () => {
  const n8n = new N8n([event(1), event(2, "2@g.us"), event(3, null)]);
  const run = n8n.start({ chatType: "group" });
  await run.read();
  await run.stop();
  deepEqual(n8n.ids(), [2]);
});

test("a token that ended stops the trigger with the bridge's sentence", async () => {
  const n8n = new N8n([]);
  n8n.status = 401;
  const { running } = n8n.start();
  await running;
  equal(n8n.errors[0].message, "no");
  ok(n8n.errors[0].description.includes("unauthorized"));
});

test("a message's file comes with it, or what the bridge says instead", async () => {
  const withFile = (id, msgId) => ({ ...event(id), message: { msgId, media: { fileName: "plan.pdf" } } });
  const n8n = new N8n([withFile(1, "AB12"), withFile(2, "..")]);
  n8n.files = {
    "/api/messages/media/1%40s.whatsapp.net/AB12": { statusCode: 200, headers: { "content-type": "application/pdf" }, body: "bytes" },
    "/api/messages/media/1%40s.whatsapp.net/~Li4": { statusCode: 404, headers: {}, body: [Buffer.from('{"error": "it is gone", "code": "not_found"}')] },
  };
  const run = n8n.start({ download: "file" });
  await run.read();
  await run.stop();
  const [brought, missing] = n8n.items;
  deepEqual(brought.binary.file, { data: "bytes", fileName: "plan.pdf", mimeType: "application/pdf" });
  deepEqual([missing.json.fileError, missing.binary], ["it is gone", undefined]);
});

test("a file that comes to a halt holds nothing up for ever", async (t) => {
  t.mock.method(AbortSignal, "timeout", () => AbortSignal.abort(new Error("out of time")));
  const n8n = new N8n([{ ...event(1), message: { msgId: "AB12", media: { fileName: "film.mp4" } } }]);
  n8n.files = { "/api/messages/media/1%40s.whatsapp.net/AB12": async (signal) => await new Promise((_, reject) => (signal.aborted ? reject(signal.reason) : signal.addEventListener("abort", () => reject(signal.reason)))) };
  const started = new Promise((resolve) => n8n.items.push = (item) => resolve(item));
  const run = n8n.start({ download: "file" });
  match((await started).json.fileError, /out of time/);
  await run.stop();
});
