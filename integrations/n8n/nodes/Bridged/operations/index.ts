import type { Resource } from "../operation";
import { accountResource } from "./account";
import { callResource } from "./call";
import { chatResource } from "./chat";
import { contactResource } from "./contact";
import { groupResource } from "./group";
import { hookResource } from "./hook";
import { labelResource } from "./label";
import { message } from "./message";
import { scheduledResource } from "./scheduled";

export const resources: Resource[] = [accountResource, callResource, chatResource, contactResource, groupResource, hookResource, labelResource, message, scheduledResource];
