/** Shows what needs a person, the worst first, each with the buttons that mend it. What a button did is told at the edge of the page. */
import { useSignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import type { ApiError } from "../../api/ApiError.ts"
import type { AnswerOf } from "../../api/client.ts"
import { attentionList } from "../../api/calls.generated.ts"
import { type Question, queries, renew, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State, type Kind } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { clockTime, exact, visible } from "../../ui/format.ts"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { placeOf } from "../../ui/address/places.ts"
import { useWork } from "../../ui/useWork.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/home.ts"
import {
  type Action,
  budgetOf,
  type Item,
  placeOfAction,
  intervalOf,
  placeOfSubject,
  rowsOf,
  withTimes
} from "./actions.ts"
import { Raise } from "./Raise.tsx"
import { runAction } from "./run.ts"

const mostShown = 8
/** Models that are named in one line. */
const mostNamed = 4

const kinds: Readonly<Record<Item["severity"], Kind>> = { error: "bad", warning: "warning", info: "trial" }

const takeBack = async (undo: () => Promise<unknown>): Promise<void> => {
  try {
    await undo()
    toast("good", words.attention.undone)
  } catch (error) {
    toast("bad", visible((error as ApiError).message))
  } finally {
    void queries.invalidateQueries()
  }
}

interface ButtonProperties {
  readonly action: Action
  readonly item: Item
}

const Runs = ({ action, item }: ButtonProperties) => {
  const { isBusy, run: work } = useWork([])
  const name = visible(item.subject.name)
  const label = visible(action.label)
  const run = async (): Promise<void> => {
    await work(async () => {
      const { refusal, undo } = await runAction(action)
      if (refusal !== null) {
        toast("bad", words.attention.refused(label, name, refusal === "" ? words.attention.failed : visible(refusal)))
      } else {
        const back = undo === null ? undefined : { label: words.attention.undo, run: () => void takeBack(undo) }
        toast("good", words.attention.done(label, name), back)
      }
      void queries.invalidateQueries()
    })
  }
  return (
    <button
      type="button"
      class={action.method === "DELETE" && budgetOf(action) !== null ? "button danger" : "button"}
      disabled={isBusy.value}
      onClick={() => void run()}
    >
      {label}
    </button>
  )
}

const Button = (properties: ButtonProperties) => {
  const place = placeOfAction(properties.action, properties.item)
  return place === null ? (
    <Runs {...properties} />
  ) : (
    <a class="button" href={placeOf(place)}>
      {visible(properties.action.label)}
    </a>
  )
}

/** Budgets that are used up, or soon are, can be raised where they stand. */
const mayRaise = ({ actions, kind, subject }: Item): boolean =>
  (kind === "budgetExhausted" || kind === "budgetExhausting") &&
  subject.type === "apiKey" &&
  !actions.some((action) => action.method === "POST" && budgetOf(action) !== null)

/** A time within a sentence. */
const Clock = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={`${exact(at)}\n${at}`}>
    {clockTime(at)}
  </time>
)

const Row = ({ item }: { readonly item: Item }) => {
  const place = placeOfSubject(item.subject)
  const name = visible(item.subject.name)
  return (
    <li>
      <State kind={kinds[item.severity]}>
        <span class="visually-hidden">{words.attention.severities[item.severity]}: </span>
        {place === null ? <strong>{name}</strong> : <a href={placeOf(place)}>{name}</a>}
      </State>
      <span class="grow">
        {withTimes(item.text).map((piece, index) =>
          "at" in piece ? <Clock key={index} at={piece.at} /> : <span key={index}>{visible(piece.text)}</span>
        )}
        {item.since !== null && (
          <span class="quiet">
            {" "}
            {words.attention.since} <Time at={item.since} />
          </span>
        )}
      </span>
      <span class="buttons">
        {mayRaise(item) && <Raise apiKeyId={item.subject.id} interval={intervalOf(item)} name={item.subject.name} />}
        {item.actions.map((action) => (
          <Button key={`${action.method} ${action.path} ${action.label}`} action={action} item={item} />
        ))}
      </span>
    </li>
  )
}

const Unpriced = ({ items }: { readonly items: ReadonlyArray<Item> }) => {
  const names = items.slice(0, mostNamed).map(({ subject }) => visible(subject.name))
  return (
    <li>
      <State kind="warning">
        <a href={placeOf("providers/models?show=unpriced")}>{words.attention.unpriced(items.length)}</a>
      </State>
      <span class="grow quiet">
        {words.attention.unpricedText(items.length > mostNamed ? `${names.join(", ")} …` : names.join(", "))}
      </span>
      <span class="buttons">
        <a class="button" href={placeOf("providers/models?show=unpriced")}>
          {words.attention.setPrices}
        </a>
      </span>
    </li>
  )
}

const Items = ({ items, total }: { readonly items: ReadonlyArray<Item>; readonly total: number }) => {
  const isWhole = useSignal(false)
  const { single, unpriced } = rowsOf(items)
  const shown = isWhole.value ? single : single.slice(0, mostShown)
  return (
    <>
      <ul>
        {shown.map((item) => (
          <Row key={item.id} item={item} />
        ))}
        {unpriced.length > 0 && <Unpriced items={unpriced} />}
      </ul>
      {shown.length < single.length && (
        <button
          type="button"
          class="button plain"
          onClick={() => {
            isWhole.value = true
          }}
        >
          {words.attention.all(total)}
        </button>
      )}
      <CopyAs call={attentionList} />
    </>
  )
}

export const questionOfAttention: Question<AnswerOf<typeof attentionList>> = {
  key: ["attention"],
  ask: (signal) => attentionList({ signal })
}

export const Attention = () => {
  const attention = useAnswer(questionOfAttention)
  useFeed(
    "attention",
    useCallback(() => void renew("attention"), [])
  )
  return (
    <section class="card attention" aria-labelledby="attention">
      <Answered of={attention} height={64}>
        {({ items, total }) => (
          <>
            <h2 id="attention">{total === 0 ? words.attention.nothing : words.attention.title(total)}</h2>
            {total === 0 ? <State kind="good">{words.attention.well}</State> : <Items items={items} total={total} />}
          </>
        )}
      </Answered>
    </section>
  )
}
