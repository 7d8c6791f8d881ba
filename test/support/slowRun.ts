export const isSlowRun = process.env["TEST_PART"] === "slow"

/** Takes the first in `npm test` and the second in `npm run test:slow`. A file that asks runs in both. */
export const counted = <A>(plain: A, slow: A): A => (isSlowRun ? slow : plain)
