/** The plugins that come with the gateway. */
import { answerFilter } from "./answerFilter.ts"
import { costTracker } from "./costTracker.ts"
import { rateLimiter } from "./rateLimiter.ts"
import { requestLogger } from "./requestLogger.ts"
import type { Sample } from "./Sample.ts"
import { wordGuard } from "./wordGuard.ts"

export const samples: ReadonlyArray<Sample> = [answerFilter, costTracker, rateLimiter, requestLogger, wordGuard]
