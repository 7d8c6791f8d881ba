/** Counts what API keys have used since the start, by the key's id. As plain numbers; bounded, keys beyond it are counted together. */
import type { UsageRow } from "../../../contract/domain/Usage.ts"

/** Most keys that are counted by themselves. */
export const maxKeys = 200

export interface KeyCounts {
  /** The key's id; null for requests without a key of the table (none, the admin key), `other` for the keys beyond `maxKeys`. */
  readonly apiKeyId: string | null
  readonly isOther: boolean
  requests: number
  tokensIn: number
  tokensOut: number
  costNanoUsd: number
}

const counts = (apiKeyId: string | null, isOther: boolean): KeyCounts => ({
  apiKeyId,
  isOther,
  requests: 0,
  tokensIn: 0,
  tokensOut: 0,
  costNanoUsd: 0
})

export class KeyMetrics {
  readonly #byId = new Map<string, KeyCounts>()
  readonly #none = counts(null, false)
  readonly #other = counts(null, true)

  /** The counts that a key's requests are added to. The same ones as long as the process lives. */
  of(apiKeyId: string | null): KeyCounts {
    if (apiKeyId === null) return this.#none
    const known = this.#byId.get(apiKeyId)
    if (known !== undefined) return known
    if (this.#byId.size >= maxKeys) return this.#other
    const added = counts(apiKeyId, false)
    this.#byId.set(apiKeyId, added)
    return added
  }

  /** Lists the keys that have counted something. */
  list(): ReadonlyArray<Readonly<KeyCounts>> {
    return [...this.#byId.values(), this.#none, this.#other].filter(({ requests }) => requests > 0)
  }
}

/** Hot. */
export const count = (to: KeyCounts, { costNanoUsd, tokens }: Pick<UsageRow, "costNanoUsd" | "tokens">): void => {
  to.requests += 1
  to.tokensIn += tokens.in
  to.tokensOut += tokens.out
  to.costNanoUsd += costNanoUsd
}
