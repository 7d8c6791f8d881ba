/**
 * The management contract: every endpoint once. Handlers, the CLI's client, `/openapi.json` and the tier table derive from it.
 * Errors every route can answer are declared here; the others stand at their endpoint.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import {
  BadRequestAnswer,
  ForbiddenAnswer,
  InternalAnswer,
  TooLargeAnswer,
  UnauthorizedAnswer,
  UnavailableAnswer
} from "./Errors.ts"
import { Auth } from "./Groups/Auth.ts"
import { Combos } from "./Groups/Combos.ts"
import { Flags } from "./Groups/Flags.ts"
import { GatewaySettings } from "./Groups/GatewaySettings.ts"
import { Keys } from "./Groups/Keys.ts"
import { ModelAliases } from "./Groups/ModelAliases.ts"
import { Pricing } from "./Groups/Pricing.ts"
import { ProviderModels } from "./Groups/ProviderModels.ts"
import { ProviderNodes } from "./Groups/ProviderNodes.ts"
import { Providers } from "./Groups/Providers.ts"
import { QuotaGroups } from "./Groups/QuotaGroups.ts"
import { RateLimits } from "./Groups/RateLimits.ts"
import { Resilience } from "./Groups/Resilience.ts"
import { Routing } from "./Groups/Routing.ts"
import { RoutingSettings } from "./Groups/RoutingSettings.ts"
import { System } from "./Groups/System.ts"
import { Usage } from "./Groups/Usage.ts"
import { withStrictBodies } from "./StrictBodies.ts"

const contract = HttpApi.make("gateway")
  .add(Auth)
  .add(Providers)
  .add(ProviderNodes)
  .add(ProviderModels)
  .add(Combos)
  .add(ModelAliases)
  .add(QuotaGroups)
  .add(Keys)
  .add(Pricing)
  .add(Usage)
  .add(Routing)
  .add(RoutingSettings)
  .add(Resilience)
  .add(RateLimits)
  .add(System)
  .add(Flags)
  .add(GatewaySettings)
  .addError(BadRequestAnswer)
  .addError(UnauthorizedAnswer)
  .addError(ForbiddenAnswer)
  .addError(TooLargeAnswer)
  .addError(InternalAnswer)
  .addError(UnavailableAnswer)
  .annotate(OpenApi.Title, "Gateway")
  .annotate(OpenApi.Description, "Self-hosted gateway between AI clients and AI providers.")

export class GatewayApi extends withStrictBodies(contract) {}
