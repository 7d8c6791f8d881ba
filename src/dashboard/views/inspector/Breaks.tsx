/** Broken prompt caches: who broke them, and what that cost together. */
import { inspectorCacheBreaks } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { count, money, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import { causeOf } from "./CacheFinding.tsx"
import { inspectorPlace } from "./places.ts"

export const Breaks = () => {
  const breaks = useAnswer({
    key: ["inspector-breaks"],
    ask: (signal) => inspectorCacheBreaks({ query: { limit: 100 }, signal })
  })
  return (
    <Answered of={breaks} height={240}>
      {({ breaks: found, lostTokens, lostUsd }) =>
        found.length === 0 ? (
          <div class="empty">
            <p>{words.cache.none}</p>
            <p class="quiet">{words.cache.noneHint}</p>
          </div>
        ) : (
          <div class="stack">
            <p>
              <strong>{words.cache.sum(count(lostTokens), money(lostUsd))}</strong>
            </p>
            <ul class="breaks stack" aria-label={words.cache.list}>
              {found.map((finding) => (
                <li key={finding.requestId} class="card">
                  <a href={inspectorPlace("", { id: finding.requestId, tab: "cache" })}>
                    {causeOf(finding) ?? words.cache.verdicts[finding.verdict]}
                  </a>
                  {finding.cause?.path !== undefined && finding.cause.path !== null && (
                    <code>{visible(finding.cause.path)}</code>
                  )}
                  <span class="quiet">
                    {words.cache.lost}: {words.cache.tokens(count(finding.lostTokens))}
                    {finding.lostUsd !== null && `, ${money(finding.lostUsd)}`}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Answered>
  )
}
