/** Reads quota windows for strategies. */
import type { Candidate, QuotaWindow } from "../candidate/Candidate.ts"

/** Length in milliseconds. */
export const lengthMs: Readonly<Record<QuotaWindow["window"], number>> = {
  rate: 60_000,
  hourly: 3_600_000,
  "5h": 18_000_000,
  daily: 86_400_000,
  weekly: 604_800_000,
  monthly: 2_592_000_000
}

/** A candidate's windows as they are now: one that was reset since it was read is full, and its next reset is not known. */
export const windowsNow = ({ quotas }: Candidate, nowMs: number): ReadonlyArray<QuotaWindow> =>
  quotas.map((quota) =>
    quota.resetAtMs !== null && quota.resetAtMs <= nowMs ? { ...quota, remaining: 1, resetAtMs: null } : quota
  )

/** Returns the rest of the scarcest window, [0, 1]; 1 when nothing is known, since an unknown quota forbids nothing. */
export const headroomOf = (windows: ReadonlyArray<QuotaWindow>): number => {
  let least = 1
  for (const { remaining } of windows) if (remaining < least) least = remaining
  return Math.max(0, least)
}

/** A window is known to be used up: a call would be refused. */
export const isUsedUp = (windows: ReadonlyArray<QuotaWindow>): boolean =>
  windows.some(({ remaining }) => remaining <= 0)

const soonest = (windows: ReadonlyArray<QuotaWindow>): number =>
  windows.reduce((least, { resetAtMs }) => Math.min(least, resetAtMs ?? Infinity), Infinity)

/** Epoch milliseconds; infinite when unknown. The limit of a minute counts only where nothing longer is known. */
export const soonestReset = (windows: ReadonlyArray<QuotaWindow>): number => {
  const lasting = soonest(windows.filter(({ window }) => window !== "rate"))
  return lasting === Infinity ? soonest(windows) : lasting
}
