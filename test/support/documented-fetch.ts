import { expectDocumented } from './documented';

export interface Fetched {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** fetch, where the answer has to be one that the OpenAPI document knows. */
export async function documentedFetch(url: string, init: RequestInit = {}): Promise<Fetched> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  const text = await response.text();
  const { pathname, search } = new URL(url);
  const asked = { method: init.method ?? 'GET', target: pathname + search };
  expectDocumented(asked, { status, fields: new Map(headers), body: text });
  return { status, headers, text };
}
