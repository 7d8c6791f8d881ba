/** Judges the prompt cache of a request: whether it held, else who broke it, where, and what that cost. */
import type { AnswerOf } from "../../api/client.ts"
import { inspectorCache } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { LongText } from "../../ui/editor/LongText.tsx"
import { State, type Kind } from "../../ui/State.tsx"
import { count, money, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import { inspectorPlace } from "./places.ts"

export type Finding = AnswerOf<typeof inspectorCache>["cache"]

const kinds: Readonly<Record<Finding["verdict"], Kind>> = {
  hit: "good",
  partial: "warning",
  broken: "bad",
  first: "quiet",
  too_short: "quiet",
  unknown: "quiet"
}

export const causeOf = ({ cause }: Finding): string | null =>
  cause === null ? null : words.cache.cause(words.cache.by[cause.by], words.cache.rules[cause.rule])

export const CacheFinding = ({ finding, id }: { readonly finding: Finding; readonly id: string }) => {
  const cause = causeOf(finding)
  return (
    <div class="stack">
      <p class="buttons">
        <State kind={kinds[finding.verdict]}>{words.cache.verdicts[finding.verdict]}</State>
        {cause !== null && <strong>{cause}</strong>}
      </p>
      <dl class="facts">
        <dt>{words.cache.expected}</dt>
        <dd>{words.cache.tokens(count(finding.expectedTokens))}</dd>
        <dt>{words.cache.read}</dt>
        <dd>{words.cache.tokens(count(finding.tokens.cacheRead))}</dd>
        <dt>{words.cache.written}</dt>
        <dd>{words.cache.tokens(count(finding.tokens.cacheWrite))}</dd>
        <dt>{words.cache.lost}</dt>
        <dd>{words.cache.tokens(count(finding.lostTokens))}</dd>
        <dt>{words.cache.cost}</dt>
        <dd>{finding.lostUsd === null ? words.cache.unpriced : money(finding.lostUsd)}</dd>
        {finding.cause?.path !== null && finding.cause !== null && (
          <>
            <dt>{words.cache.at}</dt>
            <dd class="mono">{visible(finding.cause.path)}</dd>
          </>
        )}
        {finding.comparedWith !== null && (
          <>
            <dt>{words.cache.compared}</dt>
            <dd>
              <a href={inspectorPlace("", { id, tab: "diff", other: finding.comparedWith })} class="mono">
                {visible(finding.comparedWith)}
              </a>
            </dd>
          </>
        )}
      </dl>
      {finding.cause?.before !== null && finding.cause !== null && (
        <div>
          <h3>{words.cache.before}</h3>
          <LongText text={finding.cause.before} label={words.cache.before} isCode />
        </div>
      )}
      {finding.cause?.after !== null && finding.cause !== null && (
        <div>
          <h3>{words.cache.after}</h3>
          <LongText text={finding.cause.after} label={words.cache.after} isCode />
        </div>
      )}
    </div>
  )
}

export const CacheOf = ({ id }: { readonly id: string }) => {
  const answer = useAnswer({ key: ["inspector-cache", id], ask: (signal) => inspectorCache({ path: { id }, signal }) })
  return (
    <Answered of={answer} height={240}>
      {({ cache }) => <CacheFinding finding={cache} id={id} />}
    </Answered>
  )
}
