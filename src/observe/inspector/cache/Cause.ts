/** Finds the party that lost the cache, and the cause. Pure. */
import type { CacheCall, CacheCause } from "./CacheCall.ts"
import type { ReadCall, ReadPrompt } from "./CacheHistory.ts"
import { type ChangeOfPrompt, changeOfPrompt } from "./ChangeOfPrompt.ts"
import { type KnownCall, knownParameters, type KnownPrompt } from "./KnownCall.ts"
import type { Overlap } from "./Overlap.ts"
import type { Mark } from "../prompt/Prompt.ts"

/** Prompts of both calls, compared. */
export interface Compared {
  readonly read: ReadCall
  readonly earlier: KnownCall
  readonly client: Overlap
  readonly sent: Overlap
}

const cause = (
  by: CacheCause["by"],
  rule: CacheCause["rule"],
  { after, before, path }: Pick<CacheCause, "path" | "before" | "after"> = { path: null, before: null, after: null }
): CacheCause => ({ by, rule, path, before, after })

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

/** `keptMs`: time the entry was kept; `sinceMs`: time since it was used. */
export const expired = (keptMs: number, sinceMs: number): CacheCause =>
  cause("client", "ttl_expired", {
    path: null,
    before: `kept for ${seconds(keptMs)}`,
    after: `asked after ${seconds(sinceMs)}`
  })

export const missed = cause("provider", "provider_missed")

/** Another account or model than last time; null when both are the same. */
export const otherCache = (
  { provider, account, askedModel, isRouted, model }: CacheCall,
  earlier: KnownCall
): CacheCause | null => {
  const chooser = isRouted ? "gateway" : "client"
  if (askedModel !== earlier.askedModel) {
    return cause("client", "model_changed", { path: "model", before: earlier.askedModel, after: askedModel })
  }
  if (provider !== earlier.provider || account !== earlier.account) {
    const name = (one: Pick<CacheCall, "account" | "provider">): string | null =>
      one.provider === null || provider === earlier.provider
        ? one.account
        : `${one.provider} ${one.account ?? ""}`.trim()
    const names = { before: name(earlier), after: name({ provider, account }) }
    return cause(chooser, "account_changed", { path: null, ...names })
  }
  return model === earlier.model
    ? null
    : cause(chooser, "model_changed", { path: "model", before: earlier.model, after: model })
}

/** Part of the earlier prompt that is still the beginning, from 0 to 1. */
const keptShare = ({ last }: Overlap, { end }: KnownPrompt): number => (end.sum === 0 ? 1 : last.sum / end.sum)

/** A share that is less by this is another place: estimates of the same text in two wires differ a little. */
const shareMargin = 0.05

const changeIn = (overlap: Overlap, { path, prompt }: ReadPrompt): ChangeOfPrompt | null =>
  changeOfPrompt(overlap, path, prompt.segments)

/** Finds the change in the prompt, and its author; null when there is none. */
export const changedPrompt = ({ client, earlier, read, sent }: Compared): CacheCause | null => {
  const change = changeIn(sent, read.sent)
  if (change === null) return null
  const own = read.sent === read.client ? change : changeIn(client, read.client)
  const isGateways = own === null || keptShare(sent, earlier.sent) < keptShare(client, earlier.client) - shareMargin
  return isGateways ? cause("gateway", "gateway_rewrote", change) : cause("client", own.rule, own)
}

const lastOf = (marks: ReadonlyArray<Mark>): Mark | null =>
  marks.reduce<Mark | null>((last, mark) => (last === null || mark.after >= last.after ? mark : last), null)

/** The end of the cached part is not asked for any more. The gateway's doing where the client has set no marks, or those it set are as before. */
export const movedMark = ({ earlier, read }: Compared): CacheCause => {
  const [before, after] = [lastOf(earlier.sent.marks), lastOf(read.sent.prompt.marks)]
  const isGateways =
    read.sent !== read.client &&
    (read.client.prompt.marks.length === 0) === (earlier.client.marks.length === 0) &&
    read.client.prompt.marks.length >= earlier.client.marks.length
  return cause(isGateways ? "gateway" : "client", "marker_moved", {
    path: after?.path ?? before?.path ?? null,
    before: before?.path ?? null,
    after: after?.path ?? null
  })
}

interface Parameters {
  readonly before: KnownPrompt["parameters"]
  readonly after: KnownPrompt["parameters"]
}

const firstOther = ({ after, before }: Parameters): Pick<CacheCause, "path" | "before" | "after"> | null => {
  const olds = new Map(before.map((one) => [one.path, one]))
  for (const now of after) {
    const old = olds.get(now.path)
    if (old?.hash !== now.hash) return { path: now.path, before: old?.text ?? null, after: now.text }
    olds.delete(now.path)
  }
  const [gone] = olds.values()
  return gone === undefined ? null : { path: gone.path, before: gone.text, after: null }
}

/** Another value of a parameter; null when all are the same. */
export const otherParameter = ({ earlier, read }: Pick<Compared, "earlier" | "read">): CacheCause | null => {
  const found = firstOther({ before: earlier.sent.parameters, after: knownParameters(read.sent.prompt) })
  if (found === null) return null
  const own =
    read.sent === read.client
      ? found
      : firstOther({ before: earlier.client.parameters, after: knownParameters(read.client.prompt) })
  return own === null ? cause("gateway", "parameters_changed", found) : cause("client", "parameters_changed", own)
}
