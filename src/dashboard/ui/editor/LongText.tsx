/** A text of any length: its beginning, and all of it when that is asked for, in pieces that are laid out when they come into sight. */
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { words } from "../../words/common.ts"
import { short, visible } from "../format.ts"
import { piecesOf } from "../pieces.ts"

const shownChars = 6_000
const pieceChars = 20_000

interface Properties {
  readonly text: string
  readonly label: string
  readonly isCode?: boolean
}

const All = ({ text }: { readonly text: string }) => {
  const pieces = useMemo(() => piecesOf(text, pieceChars), [text])
  return (
    <>
      {pieces.map((piece, index) => (
        <span key={index} class="piece-of-text">
          {visible(piece)}
        </span>
      ))}
    </>
  )
}

export const LongText = ({ isCode, label, text }: Properties) => {
  const isWhole = useSignal(false)
  const isLong = text.length > shownChars * 1.2
  const shown = isLong && !isWhole.value ? (piecesOf(text.slice(0, shownChars + 1), shownChars)[0] ?? "") : text
  return (
    <div class={isCode === true ? "long-text code" : "long-text"}>
      <pre tabIndex={0} role="region" aria-label={label}>
        {isWhole.value ? <All text={text} /> : visible(shown)}
      </pre>
      {isLong && (
        <button
          type="button"
          class="button"
          onClick={() => {
            isWhole.value = !isWhole.value
          }}
        >
          {isWhole.value ? words.showLess : words.showAll(short(text.length))}
        </button>
      )}
    </div>
  )
}
