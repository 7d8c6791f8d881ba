/** Shows what fills the context window: parts of the request as one bar, and the largest of them as rows. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { inspectorAnatomy } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { count, percent, size, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"

type Answer = AnswerOf<typeof inspectorAnatomy>
type Kind = Answer["sections"][number]["kind"]

const kinds: ReadonlyArray<Kind> = ["tools", "system", "message", "parameters"]
const mostRows = 100

const Bar = ({ sections, totalTokens }: Answer) => {
  const sums = useMemo(
    () =>
      kinds.map((kind) => ({
        kind,
        tokens: sections.reduce((sum, section) => sum + (section.kind === kind ? section.tokens : 0), 0)
      })),
    [sections]
  )
  const shown = sums.filter(({ tokens }) => tokens > 0)
  const label = shown.map(({ kind, tokens }) => `${words.anatomy.kinds[kind]} ${count(tokens)}`).join(", ")
  return (
    <figure class="anatomy">
      <span class="anatomy-bar" role="img" aria-label={`${words.anatomy.bar}: ${label}`}>
        {shown.map(({ kind, tokens }) => (
          <span
            key={kind}
            class={`piece series-${kinds.indexOf(kind) + 1}`}
            style={{ flexGrow: tokens }}
            title={`${words.anatomy.kinds[kind]}: ${count(tokens)}`}
          />
        ))}
      </span>
      <figcaption>
        {shown.map(({ kind, tokens }) => (
          <span key={kind} class="legend">
            <span class={`mark series-${kinds.indexOf(kind) + 1}`} aria-hidden="true" />
            {words.anatomy.kinds[kind]} {count(tokens)} ({percent(tokens / Math.max(1, totalTokens))})
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

const Rows = ({ sections, totalTokens }: Answer) => {
  const sorted = useMemo(
    () => sections.toSorted((one, other) => other.tokens - one.tokens || other.bytes - one.bytes),
    [sections]
  )
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={words.anatomy.largest}>
      <table class="plain-table">
        <thead>
          <tr>
            <th>{words.anatomy.part}</th>
            <th>{words.anatomy.name}</th>
            <th class="number">{words.anatomy.tokens}</th>
            <th class="number">{words.anatomy.share}</th>
            <th class="number">{words.anatomy.bytes}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, mostRows).map(({ bytes, name, path, tokens }) => (
            <tr key={path}>
              <td class="mono">{visible(path)}</td>
              <td>{visible(name ?? "–")}</td>
              <td class="number">{count(tokens)}</td>
              <td class="number">{percent(tokens / Math.max(1, totalTokens))}</td>
              <td class="number">{size(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > mostRows && <p class="quiet">{words.anatomy.more(sorted.length - mostRows)}</p>}
    </div>
  )
}

export const Anatomy = ({ id }: { readonly id: string }) => {
  const anatomy = useAnswer({
    key: ["inspector-anatomy", id],
    ask: (signal) => inspectorAnatomy({ path: { id }, signal })
  })
  return (
    <Answered of={anatomy} height={320}>
      {(answer) => (
        <div class="stack">
          <p>
            <strong>{words.anatomy.total(count(answer.totalTokens))}</strong>
          </p>
          <Bar {...answer} />
          <Rows {...answer} />
        </div>
      )}
    </Answered>
  )
}
