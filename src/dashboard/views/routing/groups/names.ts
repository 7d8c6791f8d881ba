/** Names by id, as far as they are known. */
export interface Names {
  readonly connections: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}
