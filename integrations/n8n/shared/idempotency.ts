// The Idempotency-Key of a write.
import { createHash } from "node:crypto";
import type { IExecuteFunctions } from "n8n-workflow";

// keyOf names what a node does for an item in a run of an execution. When n8n tries a failed
// node again, that is the same name, and the bridge does it once. A name of the caller's own
// counts instead, in this node.
export function keyOf(context: IExecuteFunctions, itemIndex: number, own?: string): string {
  const { id: node } = context.getNode();
  const run = own ? ["own", own] : [context.getExecutionId(), context.getWorkflowDataProxy(itemIndex).$runIndex, itemIndex];
  const parts = [context.getInstanceId(), context.getWorkflow().id, node, ...run];
  return `n8n-${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
