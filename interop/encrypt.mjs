// Content encrypted with the secret of another message, which Baileys can read
// but not send.
import { createCipheriv, createHmac, randomBytes } from "node:crypto";

const hmac = (key, ...parts) => createHmac("sha256", key).update(Buffer.concat(parts.map((p) => Buffer.from(p)))).digest();

// encrypt encrypts content for a use with the secret of a person's message. Votes
// and answers to events are bound to their sender, too.
export function encrypt({ key: { id }, message }, use, author, by, plain) {
  const key = hmac(hmac(Buffer.alloc(32), message.messageContextInfo.messageSecret), id, author, by, use, [1]);
  const encIv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, encIv);
  if (use === "Poll Vote" || use === "Event Response") cipher.setAAD(Buffer.from(`${id}\0${by}`));
  return { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv };
}

// field encodes a protobuf field of bytes or text.
export function field(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(n) {
  const bytes = [];
  for (; n > 127; n >>>= 7) bytes.push((n & 127) | 128);
  return Buffer.from([...bytes, n]);
}
