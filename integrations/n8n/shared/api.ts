// Calls of the bridge's API.
import {
  NodeApiError,
  sleep,
  type IAllExecuteFunctions,
  type IDataObject,
  type IHttpRequestMethods,
  type IHttpRequestOptions,
  type INode,
  type IN8nHttpFullResponse,
  type JsonObject,
} from "n8n-workflow";

export const CREDENTIAL = "bridgedApi";

export interface Call {
  method?: IHttpRequestMethods;
  path: string;
  qs?: IDataObject;
  body?: IHttpRequestOptions["body"];
  headers?: IDataObject;
  // stream asks for the body as a stream, of which a file is made.
  stream?: boolean;
  signal?: AbortSignal;
  timeout?: number;
}

// Refusal is what the bridge answers to a call that it does not do.
export interface Refusal {
  status: number;
  code: string;
  error: string;
  // retryAfter is in seconds.
  retryAfter?: number;
}

export type Context = Pick<IAllExecuteFunctions, "getNode" | "getCredentials" | "helpers">;

// ask calls the API once, and returns the answer or the refusal. It throws where there is no
// answer.
export async function ask(context: Context, call: Call): Promise<{ answer: IN8nHttpFullResponse; refusal?: Refusal }> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>(CREDENTIAL);
  const options: IHttpRequestOptions = {
    method: call.method ?? "GET",
    url: baseUrl.replace(/\/+$/, "") + call.path,
    qs: call.qs,
    body: call.body,
    headers: call.headers,
    timeout: call.timeout ?? 150_000,
    abortSignal: call.signal,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    disableFollowRedirect: true,
    ...(call.stream ? { encoding: "stream" } : { json: isPlain(call.body) }),
  };
  let answer: IN8nHttpFullResponse;
  try {
    answer = await context.helpers.httpRequestWithAuthentication.call(context as IAllExecuteFunctions, CREDENTIAL, options);
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject, { message: `The bridge did not answer: ${(error as Error).message}` });
  }
  if (answer.statusCode < 300) return { answer };
  const told = call.stream ? parsed(await textOf(answer.body as AsyncIterable<Buffer>)) : parsed(answer.body);
  return {
    answer,
    refusal: {
      status: answer.statusCode,
      code: told.code ?? "",
      error: told.error ?? `The address answered ${answer.statusCode}, but not as bridged does. Check the base URL of the credential, and proxies before the bridge.`,
      retryAfter: Number(answer.headers["retry-after"]) || undefined,
    },
  };
}

// isPlain reports whether a body is written as JSON.
const isPlain = (body: unknown) => body === undefined || (typeof body === "object" && !Buffer.isBuffer(body) && !("pipe" in (body as object)));

function parsed(body: unknown): { error?: string; code?: string } {
  if (typeof body !== "string") return (body as { error?: string } | null) ?? {};
  try {
    return (JSON.parse(body) as { error?: string } | null) ?? {};
  } catch {
    return {}; // a proxy's page
  }
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}

// failure is the error that n8n shows: the bridge's sentence, and its code.
export function failure(node: INode, refusal: Refusal, itemIndex?: number): NodeApiError {
  const { status, code, error, retryAfter } = refusal;
  const when = retryAfter ? `, repeat after ${retryAfter} s` : "";
  return new NodeApiError(node, { message: error, code, status } as JsonObject, {
    message: error,
    description: `${code || "no code"} (${status}${when})`,
    httpCode: String(status),
    itemIndex,
  });
}

// patience is how long a node waits, in all, for a bridge that asks for it.
const patience = 30;

// pauseBefore returns the seconds to wait before a call is repeated, with the same key, and
// undefined where it is not: the account reconnects, the first call is still running, or its
// outcome is unknown.
export function pauseBefore({ status, code, retryAfter }: Refusal): number | undefined {
  if (status === 429 || status === 503) return retryAfter;
  if (code === "request_in_progress" || code === "send_timeout") return retryAfter ?? 1;
  return undefined;
}

// insist calls the API, again where the bridge says when, for half a minute at most. It
// returns the whole answer.
export async function insist(context: Context, call: () => Call | Promise<Call>, itemIndex?: number): Promise<IN8nHttpFullResponse> {
  for (let waited = 0; ; ) {
    const { answer, refusal } = await ask(context, await call());
    if (!refusal) return answer;
    const pause = pauseBefore(refusal);
    if (pause === undefined || waited + pause > patience) throw failure(context.getNode(), refusal, itemIndex);
    waited += pause;
    await sleep(pause * 1000);
  }
}

// answerOf calls the API once, and returns its JSON.
export async function answerOf<T>(context: Context, call: Call): Promise<T> {
  const { answer, refusal } = await ask(context, call);
  if (refusal) throw failure(context.getNode(), refusal);
  return answer.body as unknown as T;
}
