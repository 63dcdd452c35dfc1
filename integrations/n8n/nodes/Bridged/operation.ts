// What the table of operations is made of.
import type { IDataObject, IHttpRequestMethods, INodeProperties } from "n8n-workflow";
import type { Kind } from "../../shared/lookup";

// Field is a parameter of the node, and where it goes in the call.
export interface Field {
  property: INodeProperties;
  // as is its name in the API, where that is another one.
  as?: string;
  // find resolves what was chosen or written to a JID.
  find?: Kind;
  // value turns what was entered into what the API takes; undefined leaves it out.
  value?: (entered: unknown) => unknown;
}

export interface Operation {
  name: string;
  value: string;
  action: string;
  description?: string;
  method?: IHttpRequestMethods;
  // path may name fields in braces. What it does not name goes into the query of a GET, and
  // into the body of others.
  path: string | ((values: Record<string, string>) => string);
  fields?: Field[];
  options?: Field[];
  // always goes with every call.
  always?: IDataObject;
  // wipes tells that something is erased, which the call has to confirm.
  wipes?: boolean;
  // list names the list in the answer whose elements become items, page after page where the
  // route has pages of at most this many.
  list?: string;
  pages?: number;
  // file tells that a file goes with the call, or comes back.
  file?: "up" | "down";
  // converts tells that the bridge may convert the file first, which takes minutes.
  converts?: boolean;
}

export interface Resource {
  name: string;
  value: string;
  operations: Operation[];
}

// withAs returns a field under another name in the API.
export const withAs = (field: Field, as: string): Field => ({ ...field, as });
