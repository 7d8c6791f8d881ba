/**
 * Loaded before Portkey's program. It edits the headers of the response it got from `fetch`, which Node forbids, so as
 * installed it cannot stream. Here each response carries a copy of its headers that may be edited; the copy is charged to Portkey.
 */
const nodeFetch = globalThis.fetch

globalThis.fetch = async (...call) => {
  const response = await nodeFetch(...call)
  return Object.defineProperty(response, "headers", { value: new Headers(response.headers) })
}
