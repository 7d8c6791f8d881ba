/** Two texts in one: what was taken away is struck, what was added is marked. */
import { useMemo } from "preact/hooks"
import { visible } from "../format.ts"
import { textDiff } from "./textDiff.ts"

interface Properties {
  readonly label: string
  readonly before: string
  readonly after: string
}

export const TextDiff = ({ after, before, label }: Properties) => {
  const parts = useMemo(() => textDiff(before, after), [before, after])
  return (
    <pre class="text-diff" tabIndex={0} role="region" aria-label={label}>
      {parts.map(({ kind, text }, index) => {
        if (kind === "same") return <span key={index}>{visible(text)}</span>
        return kind === "removed" ? <del key={index}>{visible(text)}</del> : <ins key={index}>{visible(text)}</ins>
      })}
    </pre>
  )
}
