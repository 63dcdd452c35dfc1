// The signature of Standard Webhooks.
import { createHmac, timingSafeEqual } from "node:crypto";

// tolerance is how many seconds a post may be old, or in the future.
export const tolerance = 300;

// faultOf returns what is wrong with a post: undefined where it is signed, and not old.
export function faultOf(secret: string, headers: Record<string, unknown>, body: Buffer | string, now = Date.now()): string | undefined {
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => String(headers[name] ?? ""));
  if (!id || !/^\d+$/.test(time) || !signatures) return "The post is not signed";
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const right = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64")}`);
  const genuine = signatures.split(" ").map((given) => Buffer.from(given)).some((given) => given.length === right.length && timingSafeEqual(given, right));
  if (!genuine) return "The signature is wrong";
  return Math.abs(now / 1000 - Number(time)) > tolerance ? "The post is too old, or the clocks differ" : undefined;
}
