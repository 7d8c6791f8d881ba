/** A combo as it is edited, and as it is sent. Pure. */
import type { Texts } from "../../../forms/body.ts"
import { editedOf } from "../../../forms/edited.ts"
import type { FieldSchema } from "../../../forms/operations.ts"
import type { Editable, StoredCombo } from "../editable.ts"

/** A target while it is edited. */
export interface TargetDraft {
  /** Key of this page only: it stays when targets are moved. */
  readonly key: number
  readonly model: string
  /** Weight as typed; empty: none is given. */
  readonly weight: string
  /** Empty: any account. */
  readonly connectionId: string
  readonly label: string
}

export interface Draft extends Omit<Editable, "targets"> {
  readonly targets: ReadonlyArray<TargetDraft>
  /** Settings that were typed, by their path below `config`. */
  readonly typed: Texts
}

export const editableOf = ({ config, isActive, name, strategy, targets }: StoredCombo): Editable => ({
  name,
  strategy,
  targets,
  config,
  isActive
})

export const emptyCombo: Editable = { name: "", strategy: "priority", targets: [], config: {}, isActive: true }

let lastKey = 0

export const targetDraft = (target: Editable["targets"][number]): TargetDraft => ({
  key: ++lastKey,
  model: target.model,
  weight: target.weight === undefined ? "" : String(target.weight),
  connectionId: target.connectionId ?? "",
  label: target.label ?? ""
})

export const draftOf = ({ targets, ...rest }: Editable): Draft => ({
  ...rest,
  targets: targets.map(targetDraft),
  typed: {}
})

export interface Read {
  readonly value: Editable
  /** Problems by the field's path, as the API names it. */
  readonly wrong: Readonly<Record<string, "number" | "json" | "needed">>
}

/** A target as it is stored where it was not touched: what is left out stays left out, and null stays null. */
const targetOf = (
  { connectionId, label, model, weight }: TargetDraft,
  before: Editable["targets"][number] | undefined
): Editable["targets"][number] => ({
  model: model.trim(),
  ...(weight.trim() === "" ? {} : { weight: Number(weight) }),
  ...(connectionId === "" ? (before?.connectionId === null ? { connectionId: null } : {}) : { connectionId }),
  ...(label === "" ? {} : { label })
})

/** Reads a draft as it is sent; `config`: the schema of the settings, null while it is not loaded. */
export const readDraft = (draft: Draft, base: Editable, config: FieldSchema | null): Read => {
  const settings =
    config === null ? { value: draft.config, wrong: {} } : editedOf(config, draft.config, draft.typed, "absent")
  const wrong: Record<string, "number" | "json" | "needed"> = Object.fromEntries(
    Object.entries(settings.wrong).map(([path, why]) => [`config.${path}`, why])
  )
  draft.targets.forEach(({ weight }, place) => {
    if (weight.trim() !== "" && Number.isNaN(Number(weight))) wrong[`targets.${place}.weight`] = "number"
  })
  const known = new Map(base.targets.map((target) => [target.model, target]))
  return {
    value: {
      name: draft.name.trim(),
      strategy: draft.strategy,
      targets: draft.targets
        .filter(({ model }) => model.trim() !== "")
        .map((target) => targetOf(target, known.get(target.model.trim()))),
      config: settings.value,
      isActive: draft.isActive
    },
    wrong
  }
}

/** The list with one of its items at another place. */
export const moved = <A>(items: ReadonlyArray<A>, from: number, to: number): ReadonlyArray<A> => {
  const item = items[from]
  if (item === undefined || to < 0 || to >= items.length) return items
  const others = items.toSpliced(from, 1)
  return others.toSpliced(to, 0, item)
}

/** The part of the requests that each target has by its weight, from 0 to 1; one without a weight counts as 1. */
export const sharesOf = (weights: ReadonlyArray<string>): ReadonlyArray<number> => {
  const read = weights.map((weight) => {
    const value = weight.trim() === "" ? 1 : Number(weight)
    return Number.isFinite(value) && value > 0 ? value : 0
  })
  const sum = read.reduce((total, weight) => total + weight, 0)
  return read.map((weight) => (sum === 0 ? 0 : weight / sum))
}
