// The exit code by which a process says that an operator has to change a setting.

/** sysexits.h EX_CONFIG: it tells a supervisor that a restart does not help. */
export const configurationExitCode = 78;
