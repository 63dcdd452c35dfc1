// Doing an operation of the table for an item.
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from "n8n-workflow";
import { insist, type Call } from "../../shared/api";
import { form, received } from "../../shared/files";
import { keyOf } from "../../shared/idempotency";
import { inPath } from "../../shared/ids";
import { find } from "../../shared/lookup";
import type { Field, Operation } from "./operation";

// perform does an operation for an item, and returns the items that come out.
export async function perform(context: IExecuteFunctions, operation: Operation, itemIndex: number): Promise<INodeExecutionData[]> {
  const options = context.getNodeParameter("options", itemIndex, {}) as IDataObject;
  const values = await valuesOf(context, operation, options, itemIndex);
  const { path, rest } = placed(operation, values);
  const call: Call = { method: operation.method ?? "GET", path, timeout: operation.converts ? converting : undefined };
  if (!operation.method) call.qs = rest;
  else {
    call.headers = { "Idempotency-Key": keyOf(context, itemIndex, text(options.idempotencyKey)) };
    if (operation.wipes) call.headers["X-Confirm-Wipe"] = "yes";
    if (operation.method !== "DELETE") call.body = rest;
  }
  const pairedItem = { item: itemIndex };

  if (operation.file === "down") {
    const answer = await insist(context, () => ({ ...call, stream: true }), itemIndex);
    const property = context.getNodeParameter("binaryPropertyName", itemIndex) as string;
    return [{ json: context.getInputData()[itemIndex].json, binary: { [property]: await received(context, answer) }, pairedItem }];
  }
  if (operation.file === "up") {
    const property = context.getNodeParameter("binaryPropertyName", itemIndex) as string;
    return [{ json: await upload(context, call, property, rest, itemIndex), pairedItem }];
  }
  if (operation.list) return (await listed(context, operation, call, itemIndex)).map((json) => ({ json, pairedItem }));
  const { body } = await insist(context, () => call, itemIndex);
  return [{ json: body as IDataObject, pairedItem }];
}

// converting is how long an answer may take, in milliseconds, where a film is converted and uploaded.
const converting = 20 * 60_000;

const text = (value: unknown) => (value === undefined || value === "" ? undefined : String(value));

// valuesOf reads the fields of an operation, under their names in the API.
async function valuesOf(context: IExecuteFunctions, operation: Operation, options: IDataObject, itemIndex: number): Promise<IDataObject> {
  const values: IDataObject = { ...operation.always };
  const put = async ({ property, as, find: kind, value }: Field, entered: unknown) => {
    const found = kind ? await find(context, kind, chosen(entered), itemIndex) : value ? value(entered) : entered;
    if (found !== undefined) values[as ?? property.name] = found as IDataObject[string];
  };
  for (const field of operation.fields ?? []) await put(field, context.getNodeParameter(field.property.name, itemIndex));
  for (const field of operation.options ?? []) {
    const { name } = field.property;
    if (name in options && (options[name] !== "" || operation.method)) await put(field, options[name]);
  }
  return values;
}

// chosen returns what was chosen or written: of a locator, or a text of an expression.
const chosen = (entered: unknown) => String((typeof entered === "object" && entered !== null ? (entered as { value?: unknown }).value : entered) ?? "");

// placed puts values into the path, and returns those that it does not name.
function placed({ path }: Operation, values: IDataObject): { path: string; rest: IDataObject } {
  const rest = { ...values };
  const template = typeof path === "string" ? path : path(values as Record<string, string>);
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    delete rest[name];
    const value = String(values[name]).trim();
    return name === "jid" ? encodeURIComponent(value) : inPath(value);
  });
  return { path: filled, rest };
}

async function upload(context: IExecuteFunctions, call: Call, property: string, fields: IDataObject, itemIndex: number): Promise<IDataObject> {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  // A stream can be sent once, so it is opened for every try.
  const next = async () => {
    const { body, headers } = await form(context, itemIndex, property, given);
    return { ...call, body, headers: { ...call.headers, ...headers } };
  };
  const { body } = await insist(context, next, itemIndex);
  return body as unknown as IDataObject;
}

// listed reads a list, page after page until there are enough.
async function listed(context: IExecuteFunctions, { list, pages }: Operation, call: Call, itemIndex: number): Promise<IDataObject[]> {
  const found: IDataObject[] = [];
  const all = !pages || (context.getNodeParameter("returnAll", itemIndex) as boolean);
  const wanted = all ? Infinity : (context.getNodeParameter("limit", itemIndex) as number);
  for (let cursor: string | undefined; found.length < wanted; ) {
    const qs = pages ? { ...call.qs, limit: Math.min(pages, wanted - found.length), cursor } : call.qs;
    const { body } = await insist(context, () => ({ ...call, qs }), itemIndex);
    const page = body as unknown as Record<string, IDataObject[]> & { nextCursor?: string | null };
    found.push(...page[list as string]);
    if (!page.nextCursor) break;
    cursor = page.nextCursor;
  }
  return found;
}
