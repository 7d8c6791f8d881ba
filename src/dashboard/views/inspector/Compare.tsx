/** Shows what differs between two requests, and how far a prompt cache can serve both. */
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../api/client.ts"
import { inspectorDiff } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { LongText } from "../../ui/editor/LongText.tsx"
import { State } from "../../ui/State.tsx"
import { clockTime, count, size, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import type { Item } from "./feed.ts"
import { inspectorPlace } from "./places.ts"
import { nameOf } from "./RecordList.tsx"

export type Change = AnswerOf<typeof inspectorDiff>["changes"][number]

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2))
const kinds = { add: "good", remove: "bad", replace: "warning" } as const

export const Changes = ({ changes }: { readonly changes: ReadonlyArray<Change> }) => (
  <ol class="changes stack">
    {changes.map((change, index) => (
      <li key={index} class="stack">
        <p>
          <State kind={kinds[change.op]}>{words.diff.op[change.op]}</State> <code>{visible(change.path)}</code>
        </p>
        {change.before !== undefined && <LongText text={textOf(change.before)} label={words.cache.before} isCode />}
        {change.after !== undefined && <LongText text={textOf(change.after)} label={words.cache.after} isCode />}
      </li>
    ))}
  </ol>
)

const Compared = ({ id, other }: { readonly id: string; readonly other: string }) => {
  // The other one is the earlier: what is shown makes this request of it.
  const diff = useAnswer({
    key: ["inspector-diff", other, id],
    ask: (signal) => inspectorDiff({ path: { id: other, other: id }, signal })
  })
  return (
    <Answered of={diff} height={240}>
      {({ changes, commonPrefix, equal, omitted }) => (
        <div class="stack">
          <p>
            <strong>{equal ? words.diff.equal : words.diff.changes(changes.length)}</strong>
          </p>
          <p>
            {words.diff.prefix(count(commonPrefix.tokens), size(commonPrefix.bytes))}
            {commonPrefix.firstDifference !== null && (
              <>
                {" "}
                {words.diff.first}: <code>{visible(commonPrefix.firstDifference)}</code>
              </>
            )}
          </p>
          <Changes changes={changes} />
          {omitted > 0 && <p class="quiet">{words.diff.omitted(omitted)}</p>}
        </div>
      )}
    </Answered>
  )
}

const mostOffered = 200

export const Compare = ({ id, others }: { readonly id: string; readonly others: ReadonlyArray<Item> }) => {
  const { query, route } = useLocation()
  const own = others.find((one) => one.id === id)
  const sameFirst = others
    .filter((one) => one.id !== id && one.llm !== null)
    .toSorted(
      (one, other) =>
        Number(other.contextKey === own?.contextKey) - Number(one.contextKey === own?.contextKey) ||
        other.timestamp.localeCompare(one.timestamp)
    )
    .slice(0, mostOffered)
  const other = query["other"]
  return (
    <div class="stack">
      <div class="field">
        <label for="compare-with">{words.diff.other}</label>
        <select
          id="compare-with"
          class="input"
          value={other ?? ""}
          onChange={(event) => route(inspectorPlace("", { ...query, other: event.currentTarget.value }), true)}
        >
          <option value="">{sameFirst.length === 0 ? words.diff.nothing : words.diff.choose}</option>
          {other !== undefined && !sameFirst.some((one) => one.id === other) && (
            <option value={other}>{visible(other)}</option>
          )}
          {sameFirst.map((one) => (
            <option key={one.id} value={one.id}>
              {clockTime(one.timestamp)} {visible(one.llm?.model ?? "")} {nameOf(one).slice(0, 80)}
            </option>
          ))}
        </select>
        <p class="hint">{words.diff.hint}</p>
      </div>
      {other !== undefined && other !== "" && <Compared id={id} other={other} />}
    </div>
  )
}
