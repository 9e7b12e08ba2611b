// The environment of all tests: each limit of a test or hook is multiplied by TEST_PATIENCE. Limits are written for a quiet machine; on one that
// is slow or busy only what hangs is to fail by time.
import { TestEnvironment } from 'jest-environment-node';

const patience = Number(process.env.TEST_PATIENCE ?? 1);

export default class PatientEnvironment extends TestEnvironment {
  /** Jest reads a limit after this event. */
  handleTestEvent({ name, test, hook }) {
    if (name === 'test_start' && test.timeout) test.timeout *= patience;
    // A hook is run before each of its tests: its limit is multiplied once.
    if (name === 'hook_start' && hook.timeout && !hook.isPatient) {
      hook.timeout *= patience;
      hook.isPatient = true;
    }
  }
}
