/** The targets of a combo in their order: moved by the handle, by buttons and by keys, with accounts, weights and labels. */
import { useSignal } from "@preact/signals"
import type { TargetedDragEvent, TargetedKeyboardEvent } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { providersList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Icon } from "../../../ui/Icon.tsx"
import { ModelInput } from "../../../ui/ModelInput.tsx"
import { percent, visible } from "../../../ui/format.ts"
import { words } from "../../../words/routing.ts"
import { moved, sharesOf, type TargetDraft, targetDraft } from "./draft.ts"

interface Account {
  readonly id: string
  readonly name: string
  readonly provider: string
}

interface RowProperties {
  readonly target: TargetDraft
  readonly index: number
  readonly count: number
  /** Part of the requests by weight; null: the strategy does not go by weights. */
  readonly share: number | null
  readonly accounts: ReadonlyArray<Account>
  readonly problem: string | undefined
  readonly onChange: (change: Partial<TargetDraft>) => void
  readonly onMove: (to: number, focus: "up" | "down" | null) => void
  readonly onRemove: () => void
  readonly drag: {
    readonly isOver: boolean
    readonly begin: () => void
    readonly over: () => void
    readonly drop: () => void
    readonly end: () => void
  }
}

const AccountField = ({ accounts, index, onChange, target }: RowProperties) => {
  const provider = target.model.split("/")[0] ?? ""
  const fitting = accounts.filter((account) => account.provider === provider)
  const isKnown = target.connectionId === "" || fitting.some(({ id }) => id === target.connectionId)
  return (
    <select
      class="input"
      aria-label={words.combo.account(index + 1)}
      value={target.connectionId}
      onChange={(event) => onChange({ connectionId: event.currentTarget.value })}
    >
      <option value="">{words.combo.anyAccount}</option>
      {!isKnown && <option value={target.connectionId}>{visible(target.connectionId)}</option>}
      {fitting.map(({ id, name }) => (
        <option key={id} value={id}>
          {visible(name)}
        </option>
      ))}
    </select>
  )
}

const Weight = ({ index, onChange, problem, share, target }: RowProperties) => (
  <span class="weight">
    <input
      class="input"
      inputMode="decimal"
      aria-label={words.combo.weight(index + 1)}
      aria-invalid={problem !== undefined}
      placeholder="1"
      value={target.weight}
      onInput={(event) => onChange({ weight: event.currentTarget.value })}
    />
    {share !== null && (
      <meter min={0} max={1} value={share} aria-label={words.combo.share(percent(share))} title={percent(share)} />
    )}
    {share !== null && <span class="quiet">{percent(share)}</span>}
  </span>
)

const Buttons = ({ count, index, onMove, onRemove, target }: RowProperties) => (
  <span class="row-buttons">
    <button
      type="button"
      class="button plain"
      data-focus={`${target.key}-up`}
      aria-label={words.combo.up(index + 1)}
      disabled={index === 0}
      onClick={() => onMove(index - 1, "up")}
    >
      <Icon name="up" />
    </button>
    <button
      type="button"
      class="button plain"
      data-focus={`${target.key}-down`}
      aria-label={words.combo.down(index + 1)}
      disabled={index === count - 1}
      onClick={() => onMove(index + 1, "down")}
    >
      <Icon name="down" />
    </button>
    <button type="button" class="button plain" aria-label={words.combo.removeTarget(index + 1)} onClick={onRemove}>
      <Icon name="close" />
    </button>
  </span>
)

const Row = (properties: RowProperties) => {
  const { drag, index, onChange, onMove, problem, target } = properties
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLLIElement>): void => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return
    event.preventDefault()
    onMove(index + (event.key === "ArrowUp" ? -1 : 1), null)
  }
  const allow = (event: TargetedDragEvent<HTMLLIElement>): void => {
    event.preventDefault()
    drag.over()
  }
  return (
    <li
      class={drag.isOver ? "target over" : "target"}
      aria-label={words.combo.target(index + 1)}
      onKeyDown={onKeyDown}
      onDragOver={allow}
      onDrop={(event) => {
        event.preventDefault()
        drag.drop()
      }}
    >
      <span
        class="handle"
        draggable
        aria-hidden="true"
        onDragStart={(event) => {
          event.dataTransfer?.setData("text/plain", target.model)
          drag.begin()
        }}
        onDragEnd={drag.end}
      >
        <Icon name="drag" /> {index + 1}
      </span>
      <span data-focus={`${target.key}-model`}>
        <ModelInput
          label={words.combo.model(index + 1)}
          placeholder="openai/gpt-4o-mini"
          value={target.model}
          onValue={(model) => onChange({ model })}
        />
      </span>
      <AccountField {...properties} />
      <Weight {...properties} />
      <input
        class="input label"
        aria-label={words.combo.label(index + 1)}
        placeholder={words.combo.labelHint}
        maxLength={200}
        value={target.label}
        onInput={(event) => onChange({ label: event.currentTarget.value })}
      />
      <Buttons {...properties} />
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}

interface Properties {
  readonly targets: ReadonlyArray<TargetDraft>
  readonly hasWeights: boolean
  /** Problems by the place of a target. */
  readonly problems: ReadonlyMap<number, string>
  readonly onTargets: (targets: ReadonlyArray<TargetDraft>) => void
}

/** Puts the focus where it was once the rows have been moved. */
const useFocus = (targets: ReadonlyArray<TargetDraft>) => {
  const list = useRef<HTMLOListElement>(null)
  const wanted = useRef<string | null>(null)
  useEffect(() => {
    if (wanted.current === null) return
    const [key, part] = wanted.current.split("-")
    wanted.current = null
    const other = part === "up" ? "down" : "up"
    const find = (name: string): HTMLElement | null =>
      list.current?.querySelector<HTMLElement>(
        name === "model" ? `[data-focus="${key}-model"] input` : `[data-focus="${key}-${name}"]:not(:disabled)`
      ) ?? null
    const found = part === "model" ? find("model") : (find(part ?? "") ?? find(other))
    found?.focus()
  }, [targets])
  return { list, wanted }
}

export const Targets = ({ hasWeights, onTargets, problems, targets }: Properties) => {
  const dragged = useSignal<number | null>(null)
  const over = useSignal<number | null>(null)
  const told = useSignal("")
  const { list, wanted } = useFocus(targets)
  const connections = useAnswer({
    key: ["connections", "summary"],
    ask: (signal) => providersList({ query: { view: "summary" }, signal })
  })
  const accounts = connections.value.data?.connections ?? []
  const shares = hasWeights ? sharesOf(targets.map(({ weight }) => weight)) : null
  const move = (from: number, to: number, focus: "up" | "down" | null): void => {
    const target = targets[from]
    if (target === undefined || to < 0 || to >= targets.length) return
    wanted.current = `${target.key}-${focus ?? "model"}`
    told.value = words.combo.moved(visible(target.model), to + 1, targets.length)
    onTargets(moved(targets, from, to))
  }
  const add = (): void => {
    const target = targetDraft({ model: "" })
    wanted.current = `${target.key}-model`
    onTargets([...targets, target])
  }
  const endDrag = (): void => {
    dragged.value = null
    over.value = null
  }
  return (
    <fieldset class="group">
      <legend>{words.combo.targets}</legend>
      <p class="quiet">{targets.length === 0 ? words.combo.noTargets : words.combo.targetsHint}</p>
      <ol class="targets" ref={list}>
        {targets.map((target, index) => (
          <Row
            key={target.key}
            target={target}
            index={index}
            count={targets.length}
            share={shares?.[index] ?? null}
            accounts={accounts}
            problem={problems.get(index)}
            onChange={(change) => onTargets(targets.with(index, { ...target, ...change }))}
            onMove={(to, focus) => move(index, to, focus)}
            onRemove={() => onTargets(targets.toSpliced(index, 1))}
            drag={{
              isOver: over.value === index && dragged.value !== index,
              begin: () => {
                dragged.value = index
              },
              over: () => {
                over.value = index
              },
              drop: () => {
                if (dragged.value !== null) move(dragged.value, index, null)
                endDrag()
              },
              end: endDrag
            }}
          />
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {told.value}
      </p>
      <div class="buttons">
        <button type="button" class="button" onClick={add}>
          <Icon name="add" /> {words.combo.add}
        </button>
      </div>
    </fieldset>
  )
}
