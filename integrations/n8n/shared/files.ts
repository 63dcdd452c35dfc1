// Files in n8n's binary data.
import { randomBytes } from "node:crypto";
import type { IBinaryData, IDataObject, IExecuteFunctions, IHttpRequestOptions, IN8nHttpFullResponse, ITriggerFunctions } from "n8n-workflow";

type Readable = Awaited<ReturnType<IExecuteFunctions["helpers"]["getBinaryStream"]>>;

type Composable = Readable & { compose(through: (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>): Readable };

// form writes fields and a file as multipart/form-data. A file that n8n keeps outside its
// memory is streamed.
export async function form(context: IExecuteFunctions, itemIndex: number, property: string, fields: IDataObject): Promise<{ body: IHttpRequestOptions["body"]; headers: IDataObject }> {
  const file: IBinaryData = context.helpers.assertBinaryData(itemIndex, property);
  const boundary = `bridged-${randomBytes(16).toString("hex")}`;
  const parts = Object.entries(fields).map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${String(value)}\r\n`);
  const about = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(file.fileName ?? "file")}"\r\nContent-Type: ${file.mimeType.replace(/[\r\n]/g, "")}\r\n\r\n`;
  const head = Buffer.from(parts.join("") + about);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const headers = { "Content-Type": `multipart/form-data; boundary=${boundary}` };
  if (!file.id) return { body: Buffer.concat([head, Buffer.from(file.data, "base64"), tail]), headers };

  const stream = (await context.helpers.getBinaryStream(file.id)) as Composable;
  const body = stream.compose(async function* (source) {
    yield head;
    yield* source;
    yield tail;
  });
  return { body, headers };
}

// quoted escapes a value of a header as browsers do.
const quoted = (value: string) => value.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A");

// received makes binary data of an answer whose body is a stream.
export async function received(context: IExecuteFunctions | ITriggerFunctions, answer: IN8nHttpFullResponse, name?: string): Promise<IBinaryData> {
  const type = String(answer.headers["content-type"] ?? "application/octet-stream").split(";")[0];
  return await context.helpers.prepareBinaryData(answer.body as unknown as Readable, name || nameIn(String(answer.headers["content-disposition"] ?? "")), type);
}

// nameIn returns the file name of a Content-Disposition.
function nameIn(disposition: string): string | undefined {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition);
  return extended ? decodeURIComponent(extended[1]) : /filename="?([^";]+)/i.exec(disposition)?.[1];
}
