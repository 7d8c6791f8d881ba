/** A request as turns. Only those in sight are drawn, and long texts are cut, so that thousands of turns stay quick. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { inspectorConversation } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { LongText } from "../../ui/editor/LongText.tsx"
import { Markdown } from "../../ui/markdown/Markdown.tsx"
import { State } from "../../ui/State.tsx"
import { TallList } from "../../ui/lists/TallList.tsx"
import { count, size, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import { type Block, blockOf } from "./turns.ts"

type Answer = AnswerOf<typeof inspectorConversation>
type Turn = Answer["request"][number]

/** Longer texts are cut, and drawn as they are. */
const mostMarkdown = 6_000
const charsPerLine = 90
const lineHeight = 20
const mostGuessed = 700

const Text = ({ isAnswer, text }: { readonly text: string; readonly isAnswer: boolean }) =>
  isAnswer && text.length <= mostMarkdown ? (
    <Markdown text={text} />
  ) : (
    <LongText text={text} label={words.tab.conversation} />
  )

const OneBlock = ({ block, isAnswer }: { readonly block: Block; readonly isAnswer: boolean }) => {
  switch (block._tag) {
    case "Text":
      return <Text text={block.text} isAnswer={isAnswer} />
    case "Thinking":
      return (
        <details>
          <summary>
            {words.thinking}
            {block.isSigned && ` (${words.signed})`}
          </summary>
          <LongText text={block.text} label={words.thinking} />
        </details>
      )
    case "ToolUse":
      return (
        <div class="tool stack">
          <p>
            {words.toolUse(visible(block.name))} <code class="quiet">{visible(block.id)}</code>
          </p>
          <LongText text={block.input} label={block.name} isCode />
        </div>
      )
    case "ToolResult":
      return (
        <div class="tool stack">
          <p>
            {words.toolResult} <code class="quiet">{visible(block.id)}</code>
          </p>
          <LongText text={block.content} label={words.toolResult} isCode />
        </div>
      )
    case "Media":
      return <p class="quiet">{words.media(visible(block.mediaType), size(block.bytes))}</p>
    case "Other":
      return <LongText text={block.json} label={words.tab.raw} isCode />
  }
}

const OneTurn = ({
  isAnswer,
  place,
  turn
}: {
  readonly turn: Turn
  readonly place: number
  readonly isAnswer: boolean
}) => {
  const blocks = useMemo(() => turn.blocks.map(blockOf), [turn])
  return (
    <article class={`turn ${turn.role}${isAnswer ? " answer-turn" : ""}`} aria-label={words.turn(count(place))}>
      <header class="quiet">
        <strong>{words.roles[turn.role]}</strong> {isAnswer ? words.answered : count(place)}
      </header>
      {blocks.map((block, index) => (
        <OneBlock key={index} block={block} isAnswer={isAnswer || turn.role === "assistant"} />
      ))}
    </article>
  )
}

const guessOf = ({ blocks }: Turn): number => {
  let lines = 0
  for (const block of blocks) {
    const text = (block as { readonly text?: unknown } | null)?.text
    lines += typeof text === "string" ? 1 + Math.min(mostMarkdown, text.length) / charsPerLine : 4
  }
  return Math.min(mostGuessed, 52 + Math.ceil(lines) * lineHeight)
}

const Turns = ({ answer }: { readonly answer: Answer }) => {
  const turns = useMemo(() => [...answer.request, ...answer.response], [answer])
  const guess = useMemo(() => (index: number) => guessOf(turns[index] ?? { role: "user", blocks: [] }), [turns])
  return (
    <>
      <p class="quiet">{words.turns(turns.length, count(turns.length))}</p>
      {answer.error !== undefined && <State kind="bad">{visible(answer.error)}</State>}
      {turns.length === 0 ? (
        <p>{words.noConversation}</p>
      ) : (
        <TallList
          label={words.tab.conversation}
          count={turns.length}
          guess={guess}
          row={(index) => {
            const turn = turns[index]
            return turn === undefined ? null : (
              <OneTurn turn={turn} place={index + 1} isAnswer={index >= answer.request.length} />
            )
          }}
        />
      )}
      {answer.rawEvents !== undefined && (
        <LongText text={JSON.stringify(answer.rawEvents, null, 2)} label={words.rawEvents} isCode />
      )}
    </>
  )
}

export const Conversation = ({ id }: { readonly id: string }) => {
  const conversation = useAnswer({
    key: ["inspector-conversation", id],
    ask: (signal) => inspectorConversation({ path: { id }, signal })
  })
  return (
    <Answered of={conversation} height={400}>
      {(answer) => <Turns answer={answer} />}
    </Answered>
  )
}
