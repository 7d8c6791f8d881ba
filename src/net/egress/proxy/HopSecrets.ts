/** Secrets that a proxy is sent of its account, to be removed from the answers that come through it. */
import * as Redacted from "effect/Redacted"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { noSecrets, type SentSecrets, sentSecrets } from "../../../kernel/secrets/SentSecrets.ts"
import type { ProxyHop } from "./ProxyRoute.ts"

const mostKnown = 64
const known = new LruMap<string, SentSecrets>({ capacity: mostKnown })

export const hopSecrets = ({ password, username }: Pick<ProxyHop, "username" | "password">): SentSecrets => {
  if (password === null) return noSecrets
  const plain = Redacted.value(password)
  const pair = `${username ?? ""}:${plain}`
  const found = known.get(pair)
  if (found !== undefined) return found
  const made = sentSecrets([plain, pair])
  known.set(pair, made)
  return made
}
