/** Order in which the API document has its tags and paths. What is not named comes last. */

export const tagOrder: ReadonlyArray<string> =
  "Sessions|Audit log|Login locks|Sign-in at providers|Connections|Provider nodes|Declared models|Combos|Model aliases|Guardrails|compression|Memory|Outputs of commands|Compression combos|Quota groups|Egress proxies|API keys|Registered keys|Limits on registered keys|Issue reports|Prices|Budgets and limits|Model catalogue|Usage|Webhooks|Tunnels|Evaluations|Usage over time|Telemetry|Live feed|Capture|Agent bridge|Plugins|Traffic inspector|Playground|Routing|Routing settings|Resilience|Rate limits|System|Agent skills|A2A agent|MCP server|MCP servers of others|Coding tools|ACP agents|Feature flags|Settings|Configuration|Backups|Cloud members|Cloud sync".split(
    "|"
  )

/** Groups of the contract, and single routes that are apart from their group. */
export const pathOrder: ReadonlyArray<string> =
  "auth oauth policies audit providers providerNodes providerModels combos modelAliases quotaGroups users teams keys registeredKeys issueLimits issueReports pricing limits pricing.reset modelCatalog usage usageHistory telemetry usage.connection routing routingSettings resilience rateLimits live proxies webhooks tunnels evals agentSkills mcp mcpServers cliTools acp a2a system flags configuration gatewaySettings compressionCombos rtk guardrails compression memory cloud sync plugins capture agentBridge inspector playground backups".split(
    " "
  )

const schemeOrder: ReadonlyArray<string> = ["session", "ownerToken", "bearer"]

const placeIn = (order: ReadonlyArray<string>, names: ReadonlyArray<string>): number => {
  const named = names.find((name) => order.includes(name))
  return named === undefined ? order.length : order.indexOf(named)
}

/** Sorts by the place of a name, the first that has one; equal places stay as they are. */
export const inOrder = <A>(
  order: ReadonlyArray<string>,
  values: ReadonlyArray<A>,
  namesOf: (value: A) => ReadonlyArray<string>
): ReadonlyArray<A> => values.toSorted((left, right) => placeIn(order, namesOf(left)) - placeIn(order, namesOf(right)))

/** Sorts the ways to authenticate. */
export const schemesInOrder = <A>(schemes: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(inOrder(schemeOrder, Object.entries(schemes), ([name]) => [name]))
