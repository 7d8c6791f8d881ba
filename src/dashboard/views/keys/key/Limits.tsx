/** Edits the budget of a key and its token limits. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { ApiError } from "../../../api/ApiError.ts"
import type { AnswerOf } from "../../../api/client.ts"
import {
  limitsRemoveTokenLimit,
  limitsSetBudget,
  limitsSetTokenLimit,
  limitsTokenLimits
} from "../../../api/calls.generated.ts"
import { queries, refresh, useAnswer } from "../../../api/queries.ts"
import { EditForm } from "../../../forms/EditForm.tsx"
import type { FieldSchema } from "../../../forms/operations.ts"
import { useOperation } from "../../../forms/useOperation.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { sendOver } from "../../../ui/merge/resend.ts"
import type { Version } from "../../../ui/merge/saving.ts"
import { Time } from "../../../ui/Time.tsx"
import { short, visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { useWork, type Work } from "../../../ui/useWork.ts"
import { words } from "../../../words/keys.ts"
import { words as merging } from "../../../words/merge.ts"
import { type BudgetFields, fieldsOf, loadBudget, removeBudget, saveBudget, type Standing } from "../budgets.ts"
import { zone } from "../money/useMoney.ts"

interface Named {
  readonly id: string
  readonly name: string
}

const blank: BudgetFields = {
  dailyLimitUsd: 0,
  weeklyLimitUsd: 0,
  monthlyLimitUsd: 0,
  warningThreshold: 0.8,
  resetInterval: "daily",
  resetTime: "00:00",
  tz: zone
}

/** The body without the key, which the page is of. */
const schemaOf = ({ properties = {}, ...schema }: FieldSchema): FieldSchema => {
  const { apiKeyId: _id, ...rest } = properties
  return { ...schema, properties: rest }
}

const versionOf = (standing: Standing, tag: string | null): Version<BudgetFields> => ({
  value: standing.budget === null ? blank : fieldsOf(standing.budget),
  tag
})

const Budget = ({ apiKey }: { readonly apiKey: Named }) => {
  const key = ["budgets", "version", apiKey.id]
  const budget = useAnswer({
    key,
    ask: async (signal) => {
      const { standing, tag } = await loadBudget(apiKey.id, signal)
      return { version: versionOf(standing, tag), isSet: standing.budget !== null }
    }
  })
  const operation = useOperation("limitsSetBudget")
  const { isBusy, run } = useWork([])
  return (
    <section class="card stack" aria-label={words.page.budget}>
      <h2>{words.page.budget}</h2>
      <p class="quiet">{words.page.budgetHint}</p>
      <Answered of={operation} height={320}>
        {({ body }) => (
          <Answered of={budget} height={320}>
            {({ isSet, version }) => (
              <>
                <div class="settings-form columns-form">
                  <EditForm<BudgetFields>
                    name={words.page.budget}
                    schema={schemaOf(body ?? {})}
                    version={version}
                    shown={(current) => versionOf(current as Standing, null).value}
                    send={async (value, tag) => {
                      const saved = await saveBudget(apiKey.id, value, tag)
                      const next = versionOf(saved.answer as Standing, saved.tag)
                      queries.setQueryData(key, { version: next, isSet: true })
                      void refresh("budgets")
                      return next
                    }}
                  />
                </div>
                {isSet && (
                  <div class="buttons">
                    <button
                      type="button"
                      class="button"
                      disabled={isBusy.value}
                      onClick={() => void run(() => removeBudget(apiKey, version.value))}
                    >
                      {words.page.removeBudget}
                    </button>
                  </div>
                )}
                <CopyAs call={limitsSetBudget} body={{ apiKeyId: apiKey.id, ...version.value }} />
              </>
            )}
          </Answered>
        )}
      </Answered>
    </section>
  )
}

type TokenLimit = AnswerOf<typeof limitsTokenLimits>["limits"][number]
/** A key has one limit of a scope and an interval; setting another replaces it. */
type Scope = Pick<TokenLimit, "apiKeyId" | "scopeType" | "scopeValue" | "resetInterval">

const limitOf = (limits: ReadonlyArray<TokenLimit>, scope: Scope): number | null =>
  limits.find(
    ({ apiKeyId, resetInterval, scopeType, scopeValue }) =>
      apiKeyId === scope.apiKeyId &&
      resetInterval === scope.resetInterval &&
      scopeType === scope.scopeType &&
      scopeValue === scope.scopeValue
  )?.tokenLimit ?? null

/** Changes a limit that is still as it was seen; null: there was none. Others may have changed since. */
const changeOver = async (
  scope: Scope,
  seen: number | null,
  send: (ifMatch: string | undefined) => Promise<unknown>
): Promise<void> => {
  const isAsSeen = (list: unknown): boolean =>
    limitOf((list as AnswerOf<typeof limitsTokenLimits>).limits, scope) === seen
  // The version is that of the list of all keys.
  const { answer, tag } = await limitsTokenLimits.versioned()
  if (!isAsSeen(answer)) throw new ApiError(merging.changed, { status: 412, code: "precondition_failed" })
  await sendOver(tag ?? undefined, send, isAsSeen)
}

const setLimit = (scope: Scope, tokenLimit: number, seen: number | null): Promise<void> => {
  const { scopeValue, ...rest } = scope
  const body = { ...rest, tokenLimit, ...(scopeValue === null ? {} : { scopeValue }) }
  return changeOver(scope, seen, (ifMatch) => limitsSetTokenLimit({ body, ifMatch }))
}

const removeLimit = (run: Work["run"], limit: TokenLimit): void =>
  void run(async () => {
    const { id, tokenLimit } = limit
    await changeOver(limit, tokenLimit, (ifMatch) => limitsRemoveTokenLimit({ query: { id }, ifMatch }))
    const { apiKeyId, resetInterval, scopeType, scopeValue } = limit
    toast("good", words.page.tokensRemoved, {
      label: words.undo,
      run: () => void run(() => setLimit({ apiKeyId, resetInterval, scopeType, scopeValue }, tokenLimit, null))
    })
  })

const TokenRow = ({ limit }: { readonly limit: TokenLimit }) => {
  const { isBusy, run } = useWork(["tokenLimits"])
  const { nextResetAt, resetInterval, scopeType, scopeValue, tokenLimit, tokensUsed } = limit
  const used = words.page.usedOf(short(tokensUsed), short(tokenLimit))
  return (
    <tr>
      <th scope="row">
        {words.page.tokensOf[scopeType]} {scopeValue !== null && <code>{visible(scopeValue)}</code>}
      </th>
      <td>
        <meter min={0} max={tokenLimit} value={Math.min(tokensUsed, tokenLimit)} aria-label={used} /> {used}
      </td>
      <td>
        {words.page.perInterval[resetInterval]}, <Time at={nextResetAt} />
      </td>
      <td>
        <button type="button" class="button" disabled={isBusy.value} onClick={() => removeLimit(run, limit)}>
          {words.page.removeTokens}
        </button>
      </td>
    </tr>
  )
}

const scopes = ["global", "provider", "model"] as const
const intervals = ["daily", "weekly", "monthly"] as const

interface AddProperties {
  readonly apiKeyId: string
  /** The limits that are shown. */
  readonly all: ReadonlyArray<TokenLimit>
}

const Add = ({ all, apiKeyId }: AddProperties) => {
  const id = useId()
  const draft = useSignal({
    scopeType: "global" as TokenLimit["scopeType"],
    scopeValue: "",
    tokens: "",
    interval: "daily" as TokenLimit["resetInterval"]
  })
  const { isBusy, problem: error, run } = useWork(["tokenLimits"], true)
  const { interval, scopeType, scopeValue, tokens } = draft.value
  const isReady = Number(tokens) >= 1 && (scopeType === "global" || scopeValue.trim() !== "")
  const change = (part: Partial<typeof draft.value>): void => {
    draft.value = { ...draft.value, ...part }
  }
  const add = async (): Promise<void> => {
    const value = scopeType === "global" ? null : scopeValue.trim()
    const scope: Scope = { apiKeyId, scopeType, scopeValue: value, resetInterval: interval }
    const isAdded = await run(() => setLimit(scope, Number(tokens), limitOf(all, scope)), words.page.tokensAdded)
    if (isAdded) change({ scopeValue: "", tokens: "" })
  }
  return (
    <form
      class="add-alias"
      noValidate
      aria-label={words.page.addTokens}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) void add()
      }}
    >
      <div class="field">
        <label for={`${id}-scope`}>{words.page.scope}</label>
        <select
          id={`${id}-scope`}
          class="input"
          value={scopeType}
          onChange={({ currentTarget }) => change({ scopeType: currentTarget.value as TokenLimit["scopeType"] })}
        >
          {scopes.map((each) => (
            <option key={each} value={each}>
              {words.page.tokensOf[each]}
            </option>
          ))}
        </select>
      </div>
      {scopeType !== "global" && (
        <div class="field">
          <label for={`${id}-value`}>{words.page.scopeValue}</label>
          <input
            id={`${id}-value`}
            class="input"
            autocomplete="off"
            spellcheck={false}
            placeholder={words.page.scopeValueHint}
            value={scopeValue}
            onInput={({ currentTarget }) => change({ scopeValue: currentTarget.value })}
          />
        </div>
      )}
      <div class="field">
        <label for={`${id}-tokens`}>{words.page.tokenLimit}</label>
        <input
          id={`${id}-tokens`}
          class="input"
          type="number"
          min={1}
          value={tokens}
          onInput={({ currentTarget }) => change({ tokens: currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for={`${id}-interval`}>{words.page.interval}</label>
        <select
          id={`${id}-interval`}
          class="input"
          value={interval}
          onChange={({ currentTarget }) => change({ interval: currentTarget.value as TokenLimit["resetInterval"] })}
        >
          {intervals.map((each) => (
            <option key={each} value={each}>
              {words.page.perInterval[each]}
            </option>
          ))}
        </select>
      </div>
      <button type="submit" class="button" disabled={!isReady || isBusy.value}>
        {words.page.addTokens}
      </button>
      {error.value !== null && <Failure error={error.value} />}
    </form>
  )
}

const Tokens = ({ apiKeyId }: { readonly apiKeyId: string }) => {
  const limits = useAnswer({
    key: ["tokenLimits", apiKeyId],
    ask: (signal) => limitsTokenLimits({ query: { apiKeyId }, signal })
  })
  return (
    <section class="card stack" aria-label={words.page.tokens}>
      <h2>{words.page.tokens}</h2>
      <p class="quiet">{words.page.tokensHint}</p>
      <Answered of={limits} height={96}>
        {({ limits: all }) => (
          <>
            {all.length === 0 ? (
              <p>{words.page.noTokens}</p>
            ) : (
              <div class="scroller" tabIndex={0} role="region" aria-label={words.page.tokens}>
                <table class="plain-table">
                  <tbody>
                    {all.map((limit) => (
                      <TokenRow key={limit.id} limit={limit} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            <Add all={all} apiKeyId={apiKeyId} />
          </>
        )}
      </Answered>
    </section>
  )
}

export const Limits = ({ apiKey }: { readonly apiKey: Named }) => (
  <>
    <Budget apiKey={apiKey} />
    <Tokens apiKeyId={apiKey.id} />
  </>
)
