/**
 * Commands of `gateway` by the call that they make. `:id` is a member of the path, `--flag=field` a member of the query or of the body, which is left
 * out where the call has none, and `--flag=field*` one that may be a list. A call of which anything else is said is written as `gateway api`.
 * `test/cli/shownCommands.test.ts` types each of them.
 */
const ofRequests =
  "--status=status --provider=provider --model=model --combo=combo --outcome=outcome --key=apiKeyId --session=sessionId --error=error " +
  "--min-latency=minLatencyMs --min-cost=minCostUsd --batch=batchId --search=search"

export const commands: Readonly<Record<string, string>> = {
  "GET /api/attention": "attention",
  "GET /api/cache/stats": "cache show",
  "DELETE /api/cache/stats": "cache clear",
  "GET /api/combos": "combo list",
  "GET /api/combos/:id": "combo show :id",
  "DELETE /api/combos/:id": "combo delete :id --yes",
  "PUT /api/db-backups": "backup create",
  "GET /api/db-backups": "backup list",
  "GET /api/keys": "key list",
  "POST /api/keys": "key add =name --scope=scopes* --model=allowedModels* --expires=expiresAt",
  "GET /api/keys/:id": "key show :id",
  "PUT /api/keys/:id": "key edit :id --name=name --per-day=maxRequestsPerDay --per-minute=maxRequestsPerMinute",
  "POST /api/keys/:id/rotate": "key rotate :id --overlap=overlapSeconds --yes",
  "DELETE /api/keys/:id": "key remove :id --yes",
  "GET /api/models/alias": "model alias list",
  "GET /api/pricing": "model pricing list",
  "GET /api/providers": "provider list",
  "GET /api/providers/:id": "provider show :id",
  "PUT /api/providers/:id": "provider edit :id --name=name --priority=priority --default-model=defaultModel",
  "POST /api/providers/:id/test": "provider test :id",
  "DELETE /api/providers/:id": "provider remove :id --yes",
  "GET /api/v1/management/proxies": "proxy list",
  "GET /api/quotas": "quota show",
  "GET /api/requests/running": "requests running",
  "GET /api/resilience": "resilience settings show",
  "POST /api/resilience/reset": "resilience reset =provider",
  "DELETE /api/resilience/cooldowns": "resilience clear --connection=connectionId",
  "GET /api/routing/decisions/:requestId": "route decision :requestId",
  "GET /api/settings": "settings show",
  "GET /api/usage/budget": "budget list",
  "POST /api/usage/budget":
    "budget set =apiKeyId --daily=dailyLimitUsd --weekly=weeklyLimitUsd --monthly=monthlyLimitUsd --warn-at=warningThreshold --reset-time=resetTime --tz=tz",
  "GET /api/usage/breakdown":
    "usage breakdown --by=by --and=and --from=from --to=to --timezone=tz --top=top --key=apiKeyId --provider=provider --model=model --combo=combo",
  "GET /api/usage/ledger": "budget ledger --key=apiKeyId --request=requestId --limit=limit",
  "GET /api/usage/logs": `logs --since=from --until=to ${ofRequests} --cache-hit=cacheHit --limit=limit`,
  "GET /api/usage/logs/facets": `usage facets --from=from --to=to ${ofRequests} --cache-hit=cacheHit`,
  "GET /api/usage/series":
    "usage series --by=by --step=step --from=from --to=to --timezone=tz --top=top --key=apiKeyId --provider=provider --model=model --combo=combo",
  "GET /api/webhooks": "webhook list",
  "POST /api/webhooks/:id/test": "webhook test :id",
  "DELETE /api/webhooks/:id": "webhook remove :id"
}
