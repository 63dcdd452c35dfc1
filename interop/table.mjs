// The table of checks.
const patience = 30_000;
const rows = [];

const line = (text) => process.stdout.write(text + "\n");

// libsignal prints its sessions, keys and all, to the console.
if (!process.env.VERBOSE) Object.assign(console, { log() {}, info() {}, warn() {}, error() {} });

// check runs one check with a time limit, records its outcome and returns whether
// it passed. A failure does not stop later checks.
export async function check(subject, name, take) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${patience / 1000} s`)), patience);
  });
  try {
    await Promise.race([take(), late]);
    rows.push({ subject, name });
    return true;
  } catch (err) {
    rows.push({ subject, name, fault: err });
    return false;
  } finally {
    clearTimeout(timer);
  }
}

// print prints all checks and returns the number that failed.
export function print() {
  const width = Math.max(...rows.map((r) => r.subject.length));
  for (const { subject, name, fault } of rows) {
    line(`${fault ? "FAIL" : "ok  "}  ${subject.padEnd(width)}  ${name}`);
    if (fault) line(String(fault.message ?? fault).replace(/^/gm, "        "));
    if (fault && process.env.VERBOSE) line(fault.stack);
  }
  const failed = rows.filter((r) => r.fault).length;
  line(`${rows.length - failed} passed, ${failed} failed`);
  return failed;
}
