/** Steps 2 to 4 of a chosen provider on one page: the key, its check, a first question. Nothing is stored before it is saved. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { ApiError } from "../../../api/ApiError.ts"
import { combosList, providersCreate, providersValidate } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { Question, type Told } from "../../../ui/parts/Question.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/addProvider.ts"
import { doing, renewAccounts } from "../actions.ts"
import { SignIn } from "../signIn/SignIn.tsx"
import { Check, type Findings } from "./Check.tsx"
import { Fields } from "./Fields.tsx"
import { addToCombo, saveConnection } from "./save.ts"
import {
  connectionOf,
  missingOf,
  nodeOf,
  nothingTyped,
  providerIdOf,
  type Target,
  titleOf,
  type Typed
} from "./target.ts"

const toldOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(String(error), { status: 0, code: "failed" })

/** The body of a check. */
const checkedOf = (target: Target, typed: Typed) => ({
  ...connectionOf(target, typed),
  ...(target._tag === "New" ? { node: nodeOf(typed) } : {})
})

/** Names are models that a person most likely wants to talk to. */
const firstOf = (models: ReadonlyArray<string>): string =>
  models.find((id) => !/embed|rerank|whisper|tts|image|dall|moderat|guard|audio|speech|transcri/i.test(id)) ??
  models[0] ??
  ""

interface Checked {
  readonly typed: Typed
  readonly findings: Findings
}

const useWizard = (target: Target) => {
  const typed = useSignal(nothingTyped)
  const checked = useSignal<Checked | null>(null)
  const missing = useSignal<ReadonlyArray<string>>([])
  const { isBusy, problem: error, run } = useWork([], true)
  const what = useSignal<"check" | "save">("check")
  const does = async (next: "check" | "save", work: () => Promise<void>): Promise<void> => {
    if (isBusy.value) return
    missing.value = missingOf(target, typed.value)
    if (missing.value.length > 0) return
    what.value = next
    await run(work)
  }
  const check = (): Promise<void> =>
    does("check", async () => {
      const asked = typed.value
      checked.value = { typed: asked, findings: await providersValidate({ body: checkedOf(target, asked) }) }
    })
  return { typed, checked, missing, error, busy: isBusy.value ? what.value : null, does, check }
}

/** Asks through the connection as it would be stored. */
const askThrough =
  (target: Target, typed: Typed, model: { value: string }) =>
  async (question: { readonly model: string; readonly prompt: string }): Promise<Told> => {
    model.value = question.model
    const { answer, error } = await providersValidate({ body: { ...checkedOf(target, typed), question } })
    if (answer === null || answer.text === null) {
      throw new ApiError(answer?.error ?? error ?? words.noAnswer, { status: 502, code: "no_answer" })
    }
    return { text: answer.text, ms: answer.latencyMs, costUsd: answer.costUsd, requestId: null }
  }

interface SaveProperties {
  readonly isBusy: boolean
  readonly isMain: boolean
  readonly save: (combo: { readonly id: string; readonly name: string } | null) => void
  readonly hasModel: boolean
}

const Save = ({ hasModel, isBusy, isMain, save }: SaveProperties) => {
  const combos = useAnswer({
    key: ["combos", "to choose"],
    ask: (signal) => combosList({ query: { view: "summary", limit: 100, sort: "name" }, signal })
  })
  const chosen = useSignal("")
  const all = combos.value.data?.combos ?? []
  const combo = all.find(({ id }) => id === chosen.value) ?? all[0]
  return (
    <div class="save-row">
      <button
        type="button"
        class={isMain ? "button main-action" : "button"}
        disabled={isBusy}
        onClick={() => save(null)}
      >
        {isBusy ? words.saving : words.save}
      </button>
      {hasModel && combo !== undefined && (
        <>
          <button type="button" class="button" disabled={isBusy} onClick={() => save(combo)}>
            {words.saveAndAdd(visible(combo.name))}
          </button>
          {all.length > 1 && (
            <select
              class="input combo-choice"
              aria-label={words.combo}
              value={combo.id}
              onChange={({ currentTarget }) => {
                chosen.value = currentTarget.value
              }}
            >
              {all.map(({ id, name }) => (
                <option key={id} value={id}>
                  {visible(name)}
                </option>
              ))}
            </select>
          )}
        </>
      )}
      <span class="quiet">{words.nothingStored}</span>
    </div>
  )
}

const Account = ({ target }: { readonly target: Extract<Target, { readonly _tag: "Known" }> }) => {
  const { route } = useLocation()
  const { id, name, needs, signIn } = target.provider
  if (signIn === null) return null
  const flow = (
    <SignIn
      provider={id}
      how={signIn}
      connectionId={null}
      onConnected={(connection) => {
        toast("good", words.saved(name))
        renewAccounts()
        route(placeOf(`providers/${encodeURIComponent(connection.id)}`))
      }}
    />
  )
  return needs.includes("signIn") ? (
    <section class="card stack">
      <h2>{words.signIn}</h2>
      {flow}
    </section>
  ) : (
    <details class="card">
      <summary>{words.orSignIn}</summary>
      {flow}
    </details>
  )
}

export const Wizard = ({ onStep, target }: { readonly target: Target; readonly onStep: (step: number) => void }) => {
  const { route } = useLocation()
  const { busy, check, checked, does, error, missing, typed } = useWizard(target)
  const model = useSignal("")
  const title = titleOf(target, typed.value)
  const found = checked.value
  const isFresh = found !== null && found.typed === typed.value
  const isGood = found !== null && isFresh && found.findings.valid
  const models = found?.findings.models?.ids ?? []
  const change = (part: Partial<Typed>): void => {
    typed.value = { ...typed.value, ...part }
    onStep(2)
  }
  const save = (combo: { readonly id: string; readonly name: string } | null): Promise<void> =>
    does("save", async () => {
      const connection = await saveConnection(target, typed.value)
      renewAccounts()
      const name = visible(title === "" ? connection.name : title)
      if (combo === null) toast("good", words.saved(name))
      else {
        const asked = model.value === "" ? firstOf(models) : model.value
        try {
          const undo = await addToCombo(combo.id, `${connection.provider}/${asked}`)
          toast("good", words.added(name, visible(combo.name)), { label: words.undo, run: () => void doing(undo) })
        } catch (failure) {
          toast("bad", `${words.notAdded(visible(combo.name))} ${visible(toldOf(failure).message)}`)
        }
      }
      route(placeOf(`providers/${encodeURIComponent(connection.id)}`))
    })
  const isSignIn = target._tag === "Known" && target.provider.needs.includes("signIn")
  return (
    <div class="stack">
      {isSignIn && <Account target={target} />}
      {!isSignIn && (
        <form
          class="card stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void check().then(() => onStep(checked.value?.findings.valid === true ? 4 : 3))
          }}
        >
          <Fields target={target} title={title} typed={typed.value} missing={missing.value} change={change} />
          <div class="buttons">
            <button type="submit" class={isGood ? "button" : "button main-action"} disabled={busy !== null}>
              {busy === "check" ? words.checking : found === null ? words.check : words.checkAgain}
            </button>
          </div>
          <div role="status">
            {missing.value.length > 0 && <State kind="bad">{words.missing}</State>}
            {found !== null && <Check findings={found.findings} hasKey={found.typed.apiKey !== ""} />}
            {found !== null && !isFresh && <State kind="warning">{words.changed}</State>}
          </div>
          {error.value !== null && <Failure error={error.value} />}
        </form>
      )}
      {isGood && found !== null && (
        <section class="card stack" aria-labelledby="first-question">
          <h2 id="first-question">{words.steps.question}</h2>
          <p class="quiet">{words.questionLead}</p>
          <Question
            key={firstOf(models)}
            models={models.length === 0 ? [""] : models}
            firstModel={firstOf(models)}
            ask={askThrough(target, found.typed, model)}
          />
        </section>
      )}
      {!isSignIn && (
        <>
          <Save
            isBusy={busy !== null}
            isMain={isGood}
            hasModel={model.value !== "" || models.length > 0}
            save={(combo) => void save(combo)}
          />
          <CopyAs
            call={providersCreate}
            body={{ ...connectionOf(target, typed.value), provider: providerIdOf(target, typed.value) }}
          />
        </>
      )}
      {!isSignIn && target._tag === "Known" && <Account target={target} />}
    </div>
  )
}
