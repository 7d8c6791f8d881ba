/** Shows what the key has used today and this month, and its limits. */
import type { AnswerOf } from "../../api/client.ts"
import { authMe, type limitsMe } from "../../api/calls.generated.ts"
import { askAs } from "../../api/own.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Bar, textOf } from "../../ui/parts/Meters.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { count, money, short, visible } from "../../ui/format.ts"
import { words } from "../../words/me.ts"

type Usage = AnswerOf<typeof limitsMe>
type Me = AnswerOf<typeof authMe>

const Total = ({ name, spend }: { readonly name: string; readonly spend: Usage["totals"]["today"] }) => (
  <section class="card">
    <h2>{name}</h2>
    <p class="big">{money(spend.costUsd)}</p>
    <p class="quiet">
      {words.requests(spend.requests, count(spend.requests))} · {words.allTokens(short(spend.tokens))}
    </p>
  </section>
)

const rules = ["allowedModels", "blockedModels", "allowedCombos", "allowedProviders", "allowedEndpoints"] as const

const Rules = ({ me: { credential, limits } }: { readonly me: Me }) => {
  if (limits === null) return null
  const { maxRequestsPerDay, maxRequestsPerMinute } = limits
  return (
    <>
      {maxRequestsPerMinute !== null && <li>{words.perMinute(count(maxRequestsPerMinute))}</li>}
      {maxRequestsPerDay !== null && <li>{words.perDay(count(maxRequestsPerDay))}</li>}
      {rules
        .filter((rule) => limits[rule].length > 0)
        .map((rule) => (
          <li key={rule}>
            {words.rules[rule]}: <code>{visible(limits[rule].join(", "))}</code>
          </li>
        ))}
      {credential.expiresAt !== null && (
        <li>
          {words.ends} <Time at={credential.expiresAt} />
        </li>
      )}
    </>
  )
}

const isFree = ({ budget, limits, owners }: Usage, { credential, limits: rights }: Me): boolean =>
  budget.windows.length === 0 &&
  limits.length === 0 &&
  owners.every(({ meters }) => meters.length === 0) &&
  credential.expiresAt === null &&
  (rights === null ||
    (rights.maxRequestsPerDay === null &&
      rights.maxRequestsPerMinute === null &&
      rules.every((rule) => rights[rule].length === 0)))

export const Limits = ({ usage }: { readonly usage: Usage }) => {
  const me = useAnswer({ key: ["own", "me"], ask: (signal) => askAs(authMe, { signal }) })
  return (
    <div class="own-limits">
      <Total name={words.today} spend={usage.totals.today} />
      <Total name={words.month} spend={usage.totals.month} />
      <section class="card" aria-labelledby="own-limits">
        <h2 id="own-limits">{words.limits}</h2>
        <Answered of={me} height={64}>
          {(answer) =>
            isFree(usage, answer) ? (
              <State kind="good">{words.noLimits}</State>
            ) : (
              <ul class="stack">
                {usage.budget.windows.map(({ interval, limitUsd, nextResetAt, spentUsd }) => (
                  <Bar
                    key={interval}
                    text={words.spent(money(spentUsd), money(limitUsd), words.budget[interval])}
                    used={spentUsd}
                    most={limitUsd}
                    renewedAt={nextResetAt}
                  />
                ))}
                {usage.limits.map(({ id, nextResetAt, resetInterval, scopeValue, tokenLimit, tokensUsed }) => (
                  <Bar
                    key={id}
                    text={words.tokenLimit(
                      short(tokensUsed),
                      short(tokenLimit),
                      visible(scopeValue ?? words.everything),
                      words.budget[resetInterval]
                    )}
                    used={tokensUsed}
                    most={tokenLimit}
                    renewedAt={nextResetAt}
                  />
                ))}
                {usage.owners.map(({ id, meters, name }) =>
                  meters.map((meter) => (
                    <Bar
                      key={`${id} ${meter.unit} ${meter.interval}`}
                      text={words.shared(visible(name), textOf(meter))}
                      used={meter.used}
                      most={meter.limit}
                      renewedAt={meter.nextResetAt}
                    />
                  ))
                )}
                <Rules me={answer} />
              </ul>
            )
          }
        </Answered>
      </section>
    </div>
  )
}
