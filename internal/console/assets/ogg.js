// Converts a browser's recording to the container of voice notes: unchanged Opus packets from WebM
// (RFC 9559) into Ogg pages (RFC 3533, RFC 7845).

// WebM elements with children. Their children are read as siblings.
const masters = new Set([0x18538067, 0x1654ae6b, 0xae, 0x1f43b675, 0xa0]);
const codecPrivate = 0x63a2, simpleBlock = 0xa3, block = 0xa1;
const pageTime = 48000; // samples, a second

// oggOf returns the Opus stream of a WebM file as Ogg.
export function oggOf(webm) {
  const { head, packets } = packetsOf(webm);
  if (!head || !packets.length) throw new Error("The recording holds no sound.");
  const pages = [page(head, 0, 0, 2, [head]), page(head, 1, 0, 0, [tags()])];
  let granule = 0, began = 0, lacing = 0, waiting = [];
  for (const [i, packet] of packets.entries()) {
    const needs = Math.floor(packet.length / 255) + 1;
    if (waiting.length && (lacing + needs > 255 || granule - began >= pageTime)) {
      pages.push(page(head, pages.length, granule, 0, waiting));
      [began, lacing, waiting] = [granule, 0, []];
    }
    waiting.push(packet);
    lacing += needs;
    granule += samplesOf(packet);
    if (i === packets.length - 1) pages.push(page(head, pages.length, granule, 4, waiting));
  }
  return new Blob(pages, { type: "audio/ogg; codecs=opus" });
}

// packetsOf reads the header of the Opus stream and its packets.
function packetsOf(bytes) {
  const packets = [];
  let head;
  for (let at = 0; at < bytes.length;) {
    const id = number(bytes, at, true);
    const size = number(bytes, at + id.length, false);
    at += id.length + size.length;
    if (masters.has(id.value)) continue;
    const content = bytes.subarray(at, at + size.value);
    if (id.value === codecPrivate) head = content;
    if (id.value === simpleBlock || id.value === block) packets.push(frameOf(content));
    at += size.value;
  }
  return { head, packets: packets.filter((packet) => packet.length) };
}

// frameOf returns the packet of a block, after its track, time and flags.
function frameOf(content) {
  const at = number(content, 0, false).length + 2;
  if (content[at] & 6) throw new Error("The recording is in a format that can’t be sent.");
  return content.subarray(at + 1);
}

// number reads a number of variable length. Ids include the length marker.
function number(bytes, at, keepsMark) {
  const first = bytes[at];
  const length = Math.clz32(first) - 23;
  if (!(length <= 8)) throw new Error("The recording is broken.");
  let value = keepsMark ? first : first & (0xff >> length);
  for (let i = 1; i < length; i++) value = value * 256 + bytes[at + i];
  return { value, length };
}

// samplesOf returns the duration of a packet in samples at 48 kHz (RFC 6716, section 3.1).
export function samplesOf(packet) {
  const config = packet[0] >> 3;
  let frame = [120, 240, 480, 960][config & 3];
  if (config < 12) frame = [480, 960, 1920, 2880][config & 3];
  else if (config < 16) frame = [480, 960][config & 1];
  const count = [1, 2, 2, packet[1] & 0x3f][packet[0] & 3];
  return frame * count;
}

function tags() {
  const vendor = new TextEncoder().encode("bridged");
  const packet = new Uint8Array(16 + vendor.length);
  packet.set(new TextEncoder().encode("OpusTags"));
  packet[8] = vendor.length;
  packet.set(vendor, 12);
  return packet;
}

// page returns an Ogg page with whole packets. The stream's serial number is its header's checksum.
function page(head, sequence, granule, flags, packets) {
  const lacing = packets.flatMap((packet) => [...Array(Math.floor(packet.length / 255)).fill(255), packet.length % 255]);
  const size = packets.reduce((sum, packet) => sum + packet.length, 0);
  const bytes = new Uint8Array(27 + lacing.length + size);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("OggS"));
  bytes[5] = flags;
  view.setBigUint64(6, BigInt(granule), true);
  view.setUint32(14, sumOf(head), true);
  view.setUint32(18, sequence, true);
  bytes[26] = lacing.length;
  bytes.set(lacing, 27);
  let at = 27 + lacing.length;
  for (const packet of packets) {
    bytes.set(packet, at);
    at += packet.length;
  }
  view.setUint32(22, sumOf(bytes), true);
  return bytes;
}

const table = Uint32Array.from({ length: 256 }, (_, i) => {
  let sum = i << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  return sum;
});

// sumOf returns the checksum of a page.
function sumOf(bytes) {
  let sum = 0;
  for (const byte of bytes) sum = (sum << 8) ^ table[(sum >>> 24) ^ byte];
  return sum >>> 0;
}
