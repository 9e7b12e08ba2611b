// Runs before each file of tests against real servers: a law that fails there ends at once, with the seed of its case. To look for a smaller
// case takes a second a try, until the test fails by time and says nothing.
import { configureGlobal } from 'fast-check';

configureGlobal({ endOnFailure: true });
