// Following the numbered event log, so that each event starts one execution.
import { NodeApiError, NodeOperationError, sleep, type IDataObject, type INodeExecutionData, type IRun, type ITriggerFunctions, type JsonObject } from "n8n-workflow";
import { ask, failure, type Call, type Refusal } from "../../shared/api";
import { received } from "../../shared/files";
import { inPath } from "../../shared/ids";
import { ofKind, type Event, type Filter } from "../../shared/filter";

// State is what n8n keeps for the node: where to go on after a restart.
export interface State extends IDataObject {
  after?: string;
}

export interface Settings extends Filter {
  // parallel is how many executions may run at a time.
  parallel: number;
  // download fetches the files of messages into this property.
  download?: string;
  // again hands the last events to n8n once more after a restart, which drops those that it
  // has started.
  again: boolean;
  // gap tells what a gap in the log does.
  gap: "error" | "item";
}

interface Page {
  events: Event[];
  nextCursor: string;
  reset: boolean;
}

// longestPause is how many seconds pass at most before a call is tried again.
const longestPause = 60;

// downloadTime is how many milliseconds a file may take, of which the bridge may first have to
// ask the network.
const downloadTime = 15 * 60_000;

// Handed is an event whose execution has not ended.
interface Handed {
  // before and behind are the numbers to go on from, to read it again and not to.
  before: string;
  behind: string;
  started: boolean;
  done: Promise<void>;
}

// Follower reads the log and starts executions: those of a chat one after another, those of
// different chats at the same time.
//
// n8n writes the state down when an execution starts, and never between. So the state stays
// before the oldest event whose execution has not ended, and a restart hands over again what
// it may have started: under the same key, which n8n starts once.
export class Follower {
  private readonly handed = new Set<Handed>(); // in the log's order
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly waiting = new Set<() => void>(); // what goes on when the trigger closes

  constructor(
    private readonly context: ITriggerFunctions,
    private readonly settings: Settings,
    private readonly state: State,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => this.waiting.forEach((goOn) => goOn()), { once: true });
  }

  // end is the number of the newest event.
  async end(): Promise<string> {
    const { answer, refusal } = await ask(this.context, { path: "/api/events", qs: { after: "now", limit: 1 } });
    if (refusal) throw failure(this.context.getNode(), refusal);
    return (answer.body as unknown as Page).nextCursor;
  }

  // first waits for the next event that is wanted, for a test in the editor.
  async first(): Promise<INodeExecutionData | undefined> {
    for (let after = await this.end(); !this.signal.aborted; ) {
      const page = await this.page(after);
      const event = page?.events.find((found) => ofKind(this.settings, found));
      if (event) return await this.item(event);
      after = page?.nextCursor ?? after;
    }
    return undefined;
  }

  // run follows the log until the trigger closes, or cannot go on.
  async run(): Promise<void> {
    let after = this.state.after as string;
    while (!this.signal.aborted) {
      const page = await this.page(after);
      if (!page) return;
      if (page.reset) await this.missed(after);
      for (const event of page.events) {
        const behind = String(event.id);
        if (ofKind(this.settings, event)) await this.hand(event.chatJid ?? "", `${behind}:${event.timestamp}`, after, behind, async () => await this.item(event));
        after = behind;
      }
      after = page.nextCursor;
      if (!this.handed.size) this.state.after = after;
    }
  }

  // page waits for the next page. It is undefined when the trigger has closed, or has
  // reported that it cannot go on.
  private async page(after: string): Promise<Page | undefined> {
    const { types, chats, fromMe } = this.settings;
    const qs = { after, types: types.join(","), chat: chats.join(","), fromMe, limit: 100, wait: "50s" };
    const { answer, refusal } = (await this.insist({ path: "/api/events", qs })) ?? {};
    if (!refusal) return answer?.body as unknown as Page | undefined;
    this.context.emitError(failure(this.context.getNode(), refusal));
    return undefined;
  }

  // insist repeats a call until it is answered or refused for good. It is undefined when the
  // trigger closes.
  private async insist(call: Call, tries = Infinity) {
    for (let failed = 0; !this.signal.aborted; failed++) {
      let pause = Math.min(2 ** failed, longestPause);
      try {
        const got = await ask(this.context, { ...call, signal: call.signal ? AbortSignal.any([this.signal, call.signal]) : this.signal });
        if (!got.refusal || !passing(got.refusal) || failed + 1 >= tries) return got;
        pause = Math.min(got.refusal.retryAfter ?? pause, longestPause);
        this.context.logger.warn(`bridged: ${got.refusal.error}`);
      } catch (error) {
        if (this.signal.aborted) return undefined;
        if (failed + 1 >= tries) throw new NodeApiError(this.context.getNode(), error as JsonObject);
        this.context.logger.warn(`bridged: ${(error as Error).message}`);
      }
      await this.pause(pause);
    }
    return undefined;
  }

  private pause = async (seconds: number) => await this.until(sleep(seconds * 1000));

  // until waits for something, or for the end of the trigger.
  private async until(something: Promise<unknown>): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      this.waiting.add(resolve);
      something.finally(() => this.waiting.delete(resolve)).then(() => resolve(), reject);
    });
  }

  // missed tells that events have left the log before they were read.
  private async missed(after: string): Promise<void> {
    const message = `Events after number ${after} had left the bridge's log before n8n read them`;
    if (this.settings.gap === "item") {
      await this.hand("", `reset:${after}`, after, after, async () => ({ json: { type: "reset", after: Number(after), message } }));
      return;
    }
    this.context.saveFailedExecution(
      new NodeOperationError(this.context.getNode(), message, {
        description: "The log keeps 30 days, or a million events (EVENTS_MAX_AGE, EVENTS_MAX_COUNT). Read the chats for what is missing. The trigger goes on with what the log still has.",
      }),
    );
  }

  // hand hands an event to n8n once there is room, and does not wait for its execution.
  private async hand(chat: string, name: string, before: string, behind: string, item: () => Promise<INodeExecutionData>): Promise<void> {
    while (this.handed.size >= this.settings.parallel && !this.signal.aborted) await this.until(Promise.race([...this.handed].map(({ done }) => done)));
    if (this.signal.aborted) return;
    const earlier = this.lanes.get(chat) ?? Promise.resolve();
    const handed: Handed = { before, behind, started: false, done: earlier.then(async () => await this.execute(handed, name, item)) };
    this.handed.add(handed);
    this.lanes.set(chat, handed.done);
    void handed.done.then(() => {
      this.handed.delete(handed);
      if (this.lanes.get(chat) === handed.done) this.lanes.delete(chat);
    });
  }

  // execute starts an execution and waits for its end. Where n8n could not start it, it tries
  // again.
  private async execute(handed: Handed, name: string, item: () => Promise<INodeExecutionData>): Promise<void> {
    const key = `bridged:${this.context.getWorkflow().id}:${this.context.getNode().id}:${name}`;
    const made = await item();
    handed.started = true;
    for (let failed = 0; !this.signal.aborted; failed++) {
      this.state.after = this.place();
      const done = this.context.helpers.createDeferredPromise<IRun>();
      try {
        this.context.emit([[made]], undefined, done, key);
        await this.until(done.promise);
        return;
      } catch (error) {
        this.context.logger.warn(`bridged: n8n did not start an execution: ${(error as Error).message}`);
        await this.pause(Math.min(2 ** failed, longestPause));
      }
    }
  }

  // place is where a restart goes on: before the oldest event that has not ended, or has not
  // started.
  private place(): string {
    const handed = [...this.handed];
    const oldest = this.settings.again ? handed[0] : handed.find(({ started }) => !started);
    return oldest?.before ?? handed[handed.length - 1].behind;
  }

  // item is what comes out for an event, with the file of its message.
  private async item(event: Event): Promise<INodeExecutionData> {
    const media = event.message?.media;
    const { download } = this.settings;
    if (!download || !event.message || !media || event.type !== "message.created") return { json: event };
    const path = `/api/messages/media/${encodeURIComponent(event.chatJid ?? "")}/${inPath(event.message.msgId)}`;
    const without = (fileError: string) => ({ json: { ...event, fileError } });
    try {
      const { answer, refusal } = (await this.insist({ path, stream: true, signal: AbortSignal.timeout(downloadTime) }, 3)) ?? {};
      if (!answer || refusal) return without(refusal?.error ?? "The workflow was deactivated");
      return { json: event, binary: { [download]: await received(this.context, answer, media.fileName) } };
    } catch (error) {
      return without((error as Error).message); // n8n's storage is full, say
    }
  }
}

// passing reports whether a refusal is the bridge's state, which passes, and not what the
// call asks for.
const passing = ({ status }: Refusal) => status === 429 || status >= 500;
