from fleet import launch

launch(12)
