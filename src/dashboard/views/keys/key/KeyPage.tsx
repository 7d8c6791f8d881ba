/** One key: what it spends, what it may spend, what it may do, and its end. */
import { useCallback } from "preact/hooks"
import { useRoute } from "preact-iso"
import { keysGet } from "../../../api/calls.generated.ts"
import { reachesOthers, reachOf } from "../../../api/rights.ts"
import { renew, useAnswer } from "../../../api/queries.ts"
import { useFeed } from "../../../live/feed.ts"
import { Answered } from "../../../ui/Answered.tsx"
import type { Version } from "../../../ui/merge/saving.ts"
import { Tabs } from "../../../ui/Tabs.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/keys.ts"
import { loadBudget, type Standing } from "../budgets.ts"
import { KeyActions, KeyState } from "../KeyRow.tsx"
import { Limits } from "./Limits.tsx"
import { Rules, type StoredKey } from "./Rules.tsx"
import { Spending } from "./Spending.tsx"

const Facts = ({ apiKey }: { readonly apiKey: StoredKey }) => {
  const { allowedModels, createdAt, expiresAt, lastUsedAt, scopes } = apiKey
  const others = scopes.filter((scope) => scope !== "self:usage")
  return (
    <dl class="facts-line">
      <dt>{words.page.created}</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      <dt>{words.page.lastUsed}</dt>
      <dd>{lastUsedAt === null ? words.never : <Time at={lastUsedAt} />}</dd>
      <dt>{words.page.expires}</dt>
      <dd>{expiresAt === null ? words.page.neverExpires : <Time at={expiresAt} />}</dd>
      <dt>{words.page.models}</dt>
      <dd>
        {allowedModels === null || allowedModels.length === 0
          ? words.page.allModels
          : visible(allowedModels.join(", "))}
      </dd>
      {others.length > 0 && (
        <>
          <dt>{words.page.scopes}</dt>
          <dd>{visible(others.join(", "))}</dd>
        </>
      )}
    </dl>
  )
}

interface ShownProperties {
  readonly version: Version<StoredKey>
  readonly standing: Standing | undefined
}

const Shown = ({ standing, version }: ShownProperties) => {
  const { part = "" } = useRoute().params
  const { value: apiKey } = version
  const place = `keys/${encodeURIComponent(apiKey.id)}`
  const tabs = [
    { name: "", title: words.page.tabs.spending, url: placeOf(place), isOpen: true },
    {
      name: "limits",
      title: words.page.tabs.limits,
      url: placeOf(`${place}/limits`),
      isOpen: reachOf("setLimits") !== "none"
    },
    {
      name: "rules",
      title: words.page.tabs.rules,
      url: placeOf(`${place}/rules`),
      isOpen: reachOf("giveKeys") !== "none"
    }
  ].filter(({ isOpen }) => isOpen)
  return (
    <>
      <header class="view-head">
        <h1>
          {visible(apiKey.name)} <code class="quiet">{visible(apiKey.prefix)}…</code>
        </h1>
        <KeyState apiKey={apiKey} />
        <KeyActions apiKey={apiKey} standing={standing} />
        {reachesOthers("readRequests") && (
          <a class="button" href={`${placeOf("requests")}?q=${encodeURIComponent(`key:${apiKey.id}`)}`}>
            {words.page.requests}
          </a>
        )}
      </header>
      <Facts apiKey={apiKey} />
      <Tabs label={words.page.tabs.label} tabs={tabs} shown={part} />
      {part === "rules" ? (
        <Rules version={version} />
      ) : part === "limits" ? (
        <Limits apiKey={apiKey} />
      ) : standing === undefined ? (
        <div class="skeleton" style={{ height: "240px" }} />
      ) : (
        <Spending keyId={apiKey.id} standing={standing} />
      )}
    </>
  )
}

export const KeyPage = ({ id }: { readonly id: string }) => {
  const key = useAnswer({
    key: ["keys", "one", id],
    ask: async (signal): Promise<Version<StoredKey>> => {
      const { answer, tag } = await keysGet.versioned({ path: { id }, signal })
      return { value: answer.key, tag }
    }
  })
  const budget = useAnswer({
    key: ["budgets", "one", id],
    ask: async (signal) => (await loadBudget(id, signal)).standing,
    when: key.value.data !== undefined
  })
  useFeed(
    "budget",
    useCallback(() => void renew("budgets"), [])
  )
  const isGone = key.value.data === undefined && key.value.error?.status === 404
  return (
    <div class="stack keys-view">
      <p>
        <a href={placeOf("keys")}>{words.page.back}</a>
      </p>
      {isGone ? (
        <div class="empty">
          <h1>{words.title}</h1>
          <p>{words.page.gone}</p>
        </div>
      ) : (
        <Answered of={key} height={320}>
          {(version) => <Shown version={version} standing={budget.value.data} />}
        </Answered>
      )}
    </div>
  )
}
