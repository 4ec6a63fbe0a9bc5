//! What this machine is and what goes on beside a measurement
