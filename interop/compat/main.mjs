// All checks in order: the clients of the Cloud API, one after another, then those of
// the adapters of Evolution API and WAHA.
import { print } from "./shared/table.mjs";
import { Demo, freeAddress } from "./demo.mjs";
import { cloud } from "./cloud.mjs";
import { evolution } from "./evolution.mjs";
import { waha } from "./waha.mjs";
import { kapso } from "./kapso.mjs";
import { greatDetail } from "./great-detail.mjs";
import { chatAdapter } from "./chat-adapter.mjs";
import { whatsappApiJs } from "./whatsapp-api-js.mjs";

const root = await freeAddress();
const demo = new Demo(process.argv[2]);
await demo.start({ COMPAT: "waha,evolution,cloud", COMPAT_LISTEN: `evolution=${root}` });

for (const [name, open] of Object.entries({
  "@kapso/whatsapp-cloud-api": kapso,
  "@great-detail/whatsapp": greatDetail,
  "@chat-adapter/whatsapp": chatAdapter,
  "whatsapp-api-js": whatsappApiJs,
})) await cloud(demo, name, open);
await evolution(demo, `http://${root}`);
await waha(demo);

const failed = print();
await demo.stop();
process.exit(failed ? 1 : 0);
