/** Shows what a request was, what it used and what it cost, as the log has it. */
import type { ComponentChildren } from "preact"
import { State } from "../../ui/State.tsx"
import { count, money, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/requests.ts"
import { filterLink } from "./links.ts"
import type { Row } from "./row.ts"

const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const Who = ({ row }: { readonly row: Row }) => {
  if (row.apiKeyId === null) return <>{words.facts.principals[row.principal]}</>
  return (
    <a href={filterLink("key", row.apiKeyId)} title={row.apiKeyId}>
      {visible(row.apiKeyName ?? row.apiKeyId)}
    </a>
  )
}

const Target = ({ row }: { readonly row: Row }) => {
  if (row.provider === null) return <>{words.facts.nobody}</>
  return (
    <>
      {visible(`${row.provider}/${row.model ?? ""}`)}
      {row.connectionId !== null && (
        <>
          {" "}
          <a class="quiet" href={filterLink("account", row.connectionId)} title={row.connectionId}>
            {visible(row.connectionName ?? row.connectionId)}
          </a>
        </>
      )}
    </>
  )
}

/** Says how the answer came to be without a call of its own. */
const Shared = ({ row }: { readonly row: Row }) => {
  if (row.cacheHit) return <State kind="good">{words.facts.cacheHit}</State>
  return row.coalesced ? <State kind="good">{words.facts.coalesced}</State> : null
}

export const Facts = ({ row }: { readonly row: Row }) => (
  <dl class="facts">
    <Fact name={words.facts.asked}>
      {visible(row.requestedModel)}
      {row.combo !== null && (
        <>
          {" "}
          <a class="quiet" href={filterLink("combo", row.combo)}>
            {words.facts.combo(visible(row.combo))}
          </a>
        </>
      )}
    </Fact>
    <Fact name={words.facts.servedBy}>
      <Target row={row} /> <Shared row={row} />
    </Fact>
    <Fact name={words.facts.key}>
      <Who row={row} />
    </Fact>
    <Fact name={words.facts.wire}>
      {row.sourceWire}
      {row.targetWire !== null && row.targetWire !== row.sourceWire && ` → ${row.targetWire}`}
      {row.streamed && `, ${words.facts.streamed}`}
      {row.egress !== null && row.egress !== "direct" && `, ${words.facts.egress(visible(row.egress))}`}
    </Fact>
    {row.batchId !== null && (
      <Fact name={words.facts.batch}>
        <a class="mono" href={placeOf("system/batches")}>
          {visible(row.batchId)}
        </a>
      </Fact>
    )}
    {row.error !== null && (
      <Fact name={words.facts.error}>
        <span class="bad">{visible(row.error)}</span>
      </Fact>
    )}
  </dl>
)

/** Tokens by what they were; none where nothing was counted. */
const Tokens = ({ row: { told, tokens, usageSource } }: { readonly row: Row }) => {
  const parts = [
    [words.tokens.in, tokens.in],
    [words.tokens.cacheRead, tokens.cacheRead],
    [words.tokens.cacheWrite, tokens.cacheWrite],
    [words.tokens.out, tokens.out],
    [words.tokens.reasoning, tokens.reasoning]
  ] as const
  const share = tokens.in === 0 ? 0 : tokens.cacheRead / tokens.in
  return (
    <>
      <dl class="tally" aria-label={words.tokens.title}>
        {parts
          .filter(([, value], index) => value > 0 || index % 3 === 0)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="number">{count(value)}</dd>
            </div>
          ))}
      </dl>
      {tokens.cacheRead > 0 && (
        <p class="cache-share">
          <meter min={0} max={1} value={share} aria-label={words.tokens.share} />
          <span class="quiet">{words.tokens.ofPrompt(Math.round(share * 100))}</span>
        </p>
      )}
      {usageSource === "estimated" && <p class="quiet">{words.tokens.estimated}</p>}
      {told !== null && <p class="quiet">{words.tokens.told(count(told.in), count(told.out))}</p>}
    </>
  )
}

const Cost = ({ row }: { readonly row: Row }) => (
  <>
    <p>
      <strong>{row.priced ? money(row.costUsd) : words.facts.unpriced}</strong>
      {row.costSource === "upstream" && <span class="quiet"> {words.money.upstream(money(row.computedCostUsd))}</span>}
    </p>
    {row.unpricedParts.length > 0 && (
      <State kind="warning">{words.money.unpriced(row.unpricedParts.map(visible).join(", "))}</State>
    )}
  </>
)

export const Bill = ({ row }: { readonly row: Row }) => (
  <section class="stack" aria-label={words.money.title}>
    <h3>{words.money.title}</h3>
    <Tokens row={row} />
    <Cost row={row} />
  </section>
)
